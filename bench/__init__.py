"""What is measured, each beside a reference in the same run.

`script/bench` prepares what this needs and runs it; `python -m bench --help` says what there is.
Nothing here is a test: figures depend on the machine, ratios less so.
"""
