"""Names that vulture finds no use of and that stay, each with the reason: `vulture smc_dp protocols` reads this file.

To renew it: run `vulture smc_dp protocols tests/vulture_names.py`. Delete from the package what is listed and nobody
needs; write a line here for the rest. `tests/test_unused.py` also refuses a line whose name is gone.
"""
# ruff: noqa: B018, F821

# Python calls these (PEP 562): the public names of the package.
__getattr__
__dir__

# pydantic reads the settings of a model, calls its validators, and writes or reads its fields by name.
model_config
_fits_together
_has_one_kind
_is_complete
_with_every_fault
_has_few_keys
_is_one
_has_its_coefficients
residual_deviation
standardised_intercept
standardised_slope
standardised_empty
standard_deviation
_of_today
sampling_error
privacy_error
last_step
times_needed
cautions
spent_before  # a field of `audit --json`
spent_after
left_before
left_after
not_for_publication  # the first field of timings.json

# Whoever has a fitted estimator of a description, or of coefficients, calls these.
to_frame
conf_int

# typer calls this to print the commands of a group.
format_commands

# NVIDIA FLARE finds these classes by their paths and calls these methods.
RelayController
SiteExecutor
start_controller
control_flow
stop_controller
process_result_of_unknown_task
client_task_id
task_name
shareable

# Flower calls this at each message, and the entry point of a carrier names that.
pass_turn
open_flower

# scikit-learn calls these or reads them, or a user does who knows its interface.
__metadata_request__fit
fit_parties
predict_proba
decision_function
intercept_
non_deterministic
poor_score
multi_class

# Attributes of other libraries' objects that are set here: numpy, flint, Jinja.
writeable
prec
filters

# A template reads it: smc_dp/pages/page.html.j2.
new_sheet

# `inspect` and typer read these of a command that is made of settings.
__signature__
__annotations__

# The Arrow interface of data frames, which pyarrow calls.
requested_schema

# The carriers of the package are entry points, as those of other packages are: `smc_dp/deploy/carriers.py` names them.
open_nats
refuse_command

# A study reads this setting among the parameters of its agreement.
semi_honest
