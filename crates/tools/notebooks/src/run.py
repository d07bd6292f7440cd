"""Run one notebook from a fresh kernel: run.py NOTEBOOK RESULT FOLDER

Writes the executed notebook to RESULT and one line of JSON per event to standard output.
FOLDER is where the kernel starts, as JupyterLab would start it. NOTEBOOK is not written.
"""

import asyncio
import json
import sys
import time

import nbformat
from nbclient import NotebookClient


def tidy(notebook):
    """Leave nothing that differs from run to run or from machine to machine."""
    notebook.metadata = {
        "kernelspec": {"display_name": "Rust", "language": "rust", "name": "rust"},
        "language_info": {
            "file_extension": ".rs",
            "mimetype": "text/rust",
            "name": "Rust",
            "pygment_lexer": "rust",
        },
    }
    count = 0
    for cell in notebook.cells:
        tags = cell.metadata.get("tags")
        cell.metadata = {"tags": tags} if tags else {}
        if cell.cell_type != "code":
            continue
        count += 1
        cell.execution_count = count
        outputs = []
        for output in cell.outputs:
            # The kernel sends a message for each line.
            last = outputs[-1] if outputs else None
            if last and output.output_type == "stream" == last.output_type:
                if last.name == output.name:
                    last.text += output.text
                    continue
            if output.output_type == "execute_result":
                output.execution_count = count
            outputs.append(output)
        cell.outputs = outputs


def say(**event):
    print(json.dumps(event), flush=True)


async def run(notebook, folder):
    client = NotebookClient(
        notebook,
        kernel_name="rust",
        timeout=1800,
        startup_timeout=300,
        allow_errors=True,
        record_timing=False,
        # A kernel that is asked to go takes five seconds over it.
        shutdown_kernel="immediate",
        resources={"metadata": {"path": folder}},
    )
    start = time.monotonic()
    client.reset_execution_trackers()
    async with client.async_setup_kernel():
        say(event="ready", at=time.monotonic() - start)
        for index, cell in enumerate(notebook.cells):
            if cell.cell_type != "code":
                continue
            cell.outputs = []
            await client.async_execute_cell(cell, index)
            figure = any("application/vnd.plotly.v1+json" in o.get("data", {}) for o in cell.outputs)
            say(event="cell", index=index, at=time.monotonic() - start, figure=figure)
            if any(output.output_type == "error" for output in cell.outputs):
                return


source, result, folder = sys.argv[1:]
notebook = nbformat.read(source, as_version=4)
asyncio.run(run(notebook, folder))
tidy(notebook)
with open(result, "w", encoding="utf-8", newline="\n") as file:
    nbformat.write(notebook, file)
