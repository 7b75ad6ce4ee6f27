"""The seam between learning and protocols: what is computed of the parties' parts, in the clear or by a protocol.

A method says which `Functionality` it needs. `ideal` computes it in one place; `secure` has a protocol compute it among
parties who show each other nothing. Both give the same value; `secure` returns it in an `Outcome`, with what the
protocol left behind.
"""

from smc_dp.aggregation.by_protocol import NoResultError as NoResultError
from smc_dp.aggregation.by_protocol import Participants as Participants
from smc_dp.aggregation.by_protocol import at_home as at_home
from smc_dp.aggregation.by_protocol import entered as entered
from smc_dp.aggregation.by_protocol import participants as participants
from smc_dp.aggregation.by_protocol import published_outcome as published_outcome
from smc_dp.aggregation.by_protocol import publishes_shares as publishes_shares
from smc_dp.aggregation.by_protocol import secure as secure
from smc_dp.aggregation.by_protocol import value_of as value_of
from smc_dp.aggregation.cost import Cost as Cost
from smc_dp.aggregation.cost import StageCost as StageCost
from smc_dp.aggregation.functionality import Addend as Addend
from smc_dp.aggregation.functionality import Contribution as Contribution
from smc_dp.aggregation.functionality import EachPublishes as EachPublishes
from smc_dp.aggregation.functionality import Functionality as Functionality
from smc_dp.aggregation.functionality import RoundAnswer as RoundAnswer
from smc_dp.aggregation.functionality import Rounds as Rounds
from smc_dp.aggregation.functionality import Sum as Sum
from smc_dp.aggregation.functionality import SumWithShares as SumWithShares
from smc_dp.aggregation.functionality import SumWithSmallestNoise as SumWithSmallestNoise
from smc_dp.aggregation.functionality import Trusted as Trusted
from smc_dp.aggregation.in_the_clear import ideal as ideal
from smc_dp.aggregation.outcome import Execution as Execution
from smc_dp.aggregation.outcome import Outcome as Outcome
