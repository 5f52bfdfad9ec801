"""How Django itself writes a date where no page of ours does: as ``audit.presentation`` has it, with the zone."""
