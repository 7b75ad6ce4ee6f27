"""Entry point of `python -m smc_dp.cli`, which is `smc-dp`."""

import sys

from smc_dp.cli.start import main

if __name__ == "__main__":
    sys.exit(main())
