"""A second reading of art. 54 and art. 55-8, written from the texts by somebody who had not seen ``settlement``."""
