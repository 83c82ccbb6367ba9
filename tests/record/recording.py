"""Records runs of the stand-in simulation."""

from fake_simulation import FakeSimulation, scene

from sapsim.record.writer import Recorder


def record(path, block: int = 7, status: str = "complete", upto: int | None = None, failing=None, command="sapsim run", **kw):
    """A finished file: `block` steps at a time, up to step `upto`; further keywords go to `scene`.  Returns the simulation."""
    sim = FakeSimulation(scene(**kw), failing)
    recorder = Recorder(str(path), sim, command=command)
    recorder.put(sim.initial())
    while sim.steps_done < (upto or sim.scene.steps):
        recorder.put(sim.advance(block), sim.totals)
    recorder.close(status)
    return sim


def whole(sim):
    """All rows of the simulation's run as one block, made anew."""
    from sapsim.step.block import Block

    again = FakeSimulation(sim.scene, sim.failing)
    return Block.joined([again.initial(), again.advance(sim.scene.steps)])
