"""Launch plans as text that people read: in diffs of launch faults, and beside kernels."""

from gpu_eval.problems.plan import Launch, LaunchPlan, Repeat, Step, When


def render(plan: LaunchPlan) -> str:
    """Render a plan as readable text, one step a line; the text that launch-fault diffs show."""
    lines = [
        f"workspace {w.name}[{w.elements}]{' zeroed' if w.zeroed else ''}" for w in plan.workspaces
    ]
    _render_steps(plan.steps, "", lines)
    return "\n".join(lines) + "\n"


def _render_steps(steps: tuple[Step, ...], indent: str, lines: list[str]) -> None:
    for step in steps:
        match step:
            case Launch():
                arguments = ", ".join(f"{a.type.value} {a.value}" for a in step.arguments)
                grid, block = ", ".join(step.grid), ", ".join(step.block)
                lines.append(
                    f"{indent}{step.kernel}<<<({grid}), ({block}), {step.shared}>>>({arguments})"
                )
            case When():
                lines.append(f"{indent}when {step.condition}:")
                _render_steps(step.steps, indent + "    ", lines)
                if step.otherwise:
                    lines.append(f"{indent}otherwise:")
                    _render_steps(step.otherwise, indent + "    ", lines)
            case Repeat():
                lines.append(f"{indent}for {step.variable} in {step.start} .. {step.stop}:")
                _render_steps(step.steps, indent + "    ", lines)
