"""What is wrong with a mesh or a table of heights."""


class MeshError(ValueError):
    """A mesh that cannot be used; `hint` says how to mend it."""

    def __init__(self, text: str, hint: str = ""):
        super().__init__(text)
        self.hint = hint
