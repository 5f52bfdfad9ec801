"""Payment orders, waivers and persons not found at the desk."""
