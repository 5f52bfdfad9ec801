"""The ruleset *toy-two-coins*: two coins are tossed, and one toss decides every stake.

It is no law of any country. It shows what a ruleset of a package of its own is; ``docs/adding-a-ruleset.md`` builds it
step by step.
"""

import settlement  # noqa: F401  # It loads the rulesets, so that it comes before any of them.
