"""What a run will cost, without one: messages, bytes and rounds exactly, and seconds by a calibration on this machine.

The counts follow from what each program declares of its conversation, and from the sizes that its messages declare. The
seconds are the operations that it declares there, each at the price that it has here and now.
"""

from smc_dp.forecasts.forecast import Forecast as Forecast
from smc_dp.forecasts.forecast import forecast as forecast
