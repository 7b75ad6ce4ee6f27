"""`python -m smc_dp`: the command `smc-dp`, for an environment whose scripts are not on the path."""

import sys

from smc_dp.cli.start import main

sys.exit(main())
