"""Problems of a level, from files."""

import os

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))


class Problem:
    def __init__(self, name, code, level):
        self.name, self.code, self.level = name, code, level


class LocalKernelBenchDataset:
    def __init__(self, level, base_path=os.path.join(TOP, "KernelBench")):
        self.level, self._base_path, self._problems = level, base_path, {}
        self._load_problems()

    def _load_problems(self):
        directory = os.path.join(self._base_path, f"level{self.level}")
        for name in sorted(os.listdir(directory)):
            if name.endswith(".py"):
                with open(os.path.join(directory, name)) as handle:
                    number = int(name.split("_")[0])
                    self._problems[number] = Problem(name, handle.read(), self.level)

    def get_problem_by_id(self, number):
        return self._problems[number]


class HuggingFaceKernelBenchDataset:
    def __init__(self, level):
        raise NotImplementedError("this sample has no hub")


def construct_kernelbench_dataset(level, source="local"):
    if source == "local":
        return LocalKernelBenchDataset(level)
    return HuggingFaceKernelBenchDataset(level)
