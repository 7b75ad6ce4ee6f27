"""Write the results of the checks of protocols' code that the package ships: `python tests/make_code_checks.py`.

Run it after every change of a file of `protocols`, and for every new version. It takes a few minutes.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # before tests/, whose protocols/ is another folder

from smc_dp.audit.run import code_checks, released_results

if __name__ == "__main__":
    made = code_checks.compute_results(code_checks.claiming_protocols().values(), print)
    released_results.RESULTS_FILE.write_text(released_results.results_text(made), encoding="utf-8")
