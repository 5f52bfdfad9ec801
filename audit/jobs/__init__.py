"""Background jobs: what an officer starts that takes longer than a page may.

kinds    the kinds of job: verification of the record, what-if run, large export, what is held of a person
queue    enqueue a job, or stop it
runner   run a job under a lease, with heartbeat and progress, until it ends or is stopped
"""
