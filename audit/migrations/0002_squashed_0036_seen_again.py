"""The migrations 0002 to 0036 at once, for a database that has none of them.

It is made of them, so nothing is said twice. Django renders all related models again for each of their operations; here
each model is rendered twice, as 0001 leaves it and as 0036 does, and what lies between is left out.
"""

import pkgutil
from importlib import import_module

from django.db import migrations

import audit.migrations

FIRST, LAST = "0002_sql", "0036_seen_again"

NAMES = [
    name
    for name in sorted(module.name for module in pkgutil.iter_modules(audit.migrations.__path__))
    if FIRST <= name <= LAST and "_squashed_" not in name
]

LANDED = [import_module(f"audit.migrations.{name}").Migration for name in NAMES]


def _leads(operation, before, after):
    """Return whether the tables would not be those ``after`` without the operation.

    A table is created, and a column added, as it is ``after``: what changes them further leads nowhere.
    """
    if not hasattr(operation, "model_name"):
        return True  # SQL, or a whole table
    key = ("audit", operation.model_name_lower)
    if key not in before:
        return False
    match operation:
        case migrations.AddIndex():
            return operation.index in after[key].options["indexes"]
        case migrations.RemoveConstraint():
            return operation.name in {constraint.name for constraint in before[key].options["constraints"]}
        case migrations.RemoveIndex() | migrations.AlterField():
            return False  # of indexes that came since, and of choices, which no table has
    return True


class Migration(migrations.Migration):
    replaces = [("audit", name) for name in NAMES]

    dependencies = sorted({found for landed in LANDED for found in landed.dependencies} - set(replaces))

    operations = [operation for landed in LANDED for operation in landed.operations]

    def apply(self, project_state, schema_editor, collect_sql=False):
        """Lead from the tables of 0001 to those of 0036, in the order of the operations."""
        before = project_state.clone()
        project_state.__dict__.pop("apps", None)
        after = self.mutate_state(project_state, preserve=False)
        for operation in self.operations:
            if _leads(operation, before.models, after.models):
                operation.database_forwards(self.app_label, schema_editor, before, after)
        return after
