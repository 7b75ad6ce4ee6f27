"""`python -m smc_dp.cli`: the same as `smc-dp`."""

import sys

from smc_dp.cli.start import main

if __name__ == "__main__":
    sys.exit(main())
