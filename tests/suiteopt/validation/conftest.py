from hypothesis import settings

# A shared machine can stall any single example; none of these tests is about time.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
