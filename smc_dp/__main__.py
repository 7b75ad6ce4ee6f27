"""`python -m smc_dp`: the command `smc-dp`, for an environment whose scripts are not on the path."""

import sys

from smc_dp.cli.start import main

if __name__ == "__main__":  # an import of every module carries out nothing
    sys.exit(main())
