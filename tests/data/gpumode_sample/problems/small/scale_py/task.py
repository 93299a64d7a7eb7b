class TestSpec(dict):
    pass
