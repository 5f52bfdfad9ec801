"""Long work: what an officer asks for that takes more than a page may.

kinds    what can be asked for: verifying the record, replaying beside, large exports
runner   under a lease, with progress, until it ends or is stopped
"""
