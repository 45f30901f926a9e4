"""What is wrong with a module, for the person who wrote it."""
import traceback


class Refusal(Exception):
    """A message "what; what to write instead", and the line of the module, if there is one."""

    def __init__(self, message, line=None):
        super().__init__(message)
        self.line = line


def line_in(error, path):
    """The last line of the module that an exception passed."""
    if isinstance(error, SyntaxError) and error.filename == path:
        return error.lineno
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == path]
    return lines[-1] if lines else None


def first_line(error):
    text = str(error).strip().split("\n")[0][:300]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def refuse(error, path, doing):
    """An exception of the module as a Refusal. `doing`: "get_inputs() fails"."""
    if isinstance(error, Refusal):
        return error
    line, text = line_in(error, path), str(error)
    if "CUDA" in text or "cuda" in text or "NVIDIA" in text:
        return Refusal("it asks for a GPU; write it for the CPU, without .cuda() and device=", line)
    if type(error).__name__ == "GuardOnDataDependentSymNode":
        return Refusal("what it does hangs on the values of a tensor; write torch.where() and the like "
                       "instead of if, and sizes that are known beforehand", line)
    if isinstance(error, MemoryError) or "can't allocate memory" in text or "alloc_cpu" in text:
        return Refusal(f"{doing}: it needs more memory than there is here; write smaller sizes", line)
    if isinstance(error, ModuleNotFoundError):
        return Refusal(f"it imports {error.name}, which is not installed beside PyTorch; "
                       "write it without", line)
    if isinstance(error, (OSError, PermissionError)):
        return Refusal(f"{doing}: it reaches for files or the network ({first_line(error)}); "
                       "a module is run without either", line)
    return Refusal(f"{doing}: {first_line(error)}", line)
