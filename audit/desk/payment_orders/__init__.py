"""Payment orders and waivers at the desk."""
