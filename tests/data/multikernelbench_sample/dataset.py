from pathlib import Path

dataset = {
    path.stem: {"category": path.parent.name}
    for path in sorted((Path(__file__).resolve().parent / "reference").glob("*/*.py"))
}
