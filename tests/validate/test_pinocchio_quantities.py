"""Centroidal momentum, frame Jacobians and Coriolis terms of random trees and of a robot, beside Pinocchio's.

M, h, forward dynamics and placements are compared by `validate --against pinocchio`.  Its mapping of velocities is used here:
for each state v = T v_pin and a = T a_pin + b (sapsim/validate/peers/pinocchio.py).  Pinocchio writes [linear; angular].
"""

from importlib.metadata import distribution
from pathlib import Path

import numpy as np
import pytest
from random_trees import random_tree

from sapsim.scene.read import load_model
from sapsim.validate.base import Samples

pin = pytest.importorskip("pinocchio")
from sapsim.validate.peers.pinocchio import Peer  # noqa: E402

SWAP = [3, 4, 5, 0, 1, 2]
ROBOTS = Path(distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots"))
COUNT = 5


def scene_of(name: str):
    if name.startswith("solo"):
        return load_model(str(ROBOTS / "solo_description/robots/solo12.urdf"), base=name.split()[1])
    root, seed = name.split()[1:]
    return random_tree(int(seed), root)


@pytest.fixture(scope="module", params=["solo fixed", "solo floating", "tree floating 1", "tree ball 2", "tree planar 3"])
def pair(request):
    """Samples and Pinocchio's model of them."""
    samples = Samples.draw(scene_of(request.param), COUNT, 0, "float64")
    return samples, Peer(samples)


def close(ours: np.ndarray, theirs: np.ndarray) -> None:
    """1e-11 of the largest entry: some hundred roundings in each library."""
    assert np.abs(ours - theirs).max() <= 1e-11 * max(1e-3, np.abs(theirs).max())


def test_centroidal_momentum(pair):
    s, peer = pair
    A, h = s.dynamics.centroidal_momentum_matrix(s.q), s.dynamics.centroidal_momentum(s.q, s.v)
    centre = s.dynamics.centre_of_mass(s.q, s.v)
    for w in range(COUNT):
        data, q, v, T, _, _ = peer._state(w)
        close((A[w] @ T)[SWAP], pin.computeCentroidalMap(peer.model, data, q))
        pin.ccrba(peer.model, data, q, v)
        close(h[w][SWAP], data.hg.vector)
        pin.centerOfMass(peer.model, data, q, v)
        close(centre.p[w], data.com[0])
        close(centre.v[w], data.vcom[0])


def test_frame_jacobians_and_bias_accelerations(pair):
    s, peer = pair
    d, rng = s.dynamics, np.random.default_rng(0)
    bodies = np.asarray(d.model.arrays["link_body"])
    for link in range(0, d.nlink, 3):
        b = int(bodies[link])
        if b < 0:
            continue
        point = rng.uniform(-0.3, 0.3, 3)
        Q, p = d.model.arrays["link_Q_BL"][0, link], d.model.arrays["link_p_BL"][0, link]
        place = pin.XYZQUATToSE3(np.concatenate([p, Q])) * pin.SE3(np.eye(3), point)
        frame = peer.model.addFrame(pin.Frame(f"{d.link_names[link]} {point}", peer.ids[b], 0, place, pin.FrameType.OP_FRAME))
        J, local = (d.jacobian(s.q, d.link_names[link], point, axes=axes) for axes in ("world", "link"))
        bias = d.bias_acceleration(s.q, s.v, d.link_names[link], point)
        A = d.acceleration(s.q, s.v, s.a, d.link_names[link], point)
        for w in range(COUNT):
            _, q, v, T, b_w, _ = peer._state(w)
            data = peer.model.createData()  # with the new frame
            for ours, reference in ((J, pin.LOCAL_WORLD_ALIGNED), (local, pin.LOCAL)):
                close((ours[w] @ T)[SWAP], pin.computeFrameJacobian(peer.model, data, q, frame, reference))
            for ours, a in ((bias, -b_w), (A, s.a[w] - b_w)):
                pin.forwardKinematics(peer.model, data, q, v, np.linalg.solve(T, a))
                pin.updateFramePlacements(peer.model, data)
                theirs = pin.getFrameClassicalAcceleration(peer.model, data, frame, pin.LOCAL_WORLD_ALIGNED)
                close(ours[w][SWAP], theirs.vector)


def test_coriolis_matrix(pair):
    """M-dot = C + C' and C v = h - g, with Pinocchio's h, g and M; where velocities are rates of coordinates, the symmetric
    part of C, which is M-dot / 2, is that of Pinocchio's C.

    Its matrix is taken only of robots with hinges: for universal and composite joints (pin 4.1) computeCoriolisMatrix(q, v) v
    differs from nonLinearEffects - gravity in the first digit.
    """
    s, peer = pair
    d = s.dynamics
    C = d.coriolis(s.q, s.v)
    for w in range(COUNT):
        data, q, v, T, bias, weights = peer._state(w)
        back, turned = np.linalg.inv(T), d.armature * bias
        at_rest = pin.rnea(peer.model, data, q, 0.0 * v, 0.0 * v, weights)
        close(C[w] @ s.v[w], back.T @ (pin.rnea(peer.model, data, q, v, -back @ bias, weights) - at_rest) + turned)
        # central differences of step 1e-4: error 1e-8 of the rate's second derivative
        rate = (_mass(peer, s, w, 1e-4) - _mass(peer, s, w, -1e-4)) / 2e-4
        assert np.abs(rate - C[w] - C[w].T).max() <= 1e-6 * np.abs(rate).max()
        hinges = all(kind.name in ("revolute", "continuous", "prismatic", "floating") for kind in peer.kinds)
        if hinges:
            theirs = pin.computeCoriolisMatrix(peer.model, data, q, v)
            M = pin.crba(peer.model, data, q)
            M = np.triu(M) + np.triu(M, 1).T
            close(C[w] @ s.v[w], back.T @ (theirs @ v - M @ back @ bias) + turned)
            if not bias.any():
                close(C[w] + C[w].T, theirs + theirs.T)


def _mass(peer: Peer, s: Samples, w: int, t: float) -> np.ndarray:
    """Pinocchio's M in our velocities, of sample w moved along v for t."""
    moved = Samples(s.dynamics, s.exact, s.dynamics.move(s.q, s.v, t), s.v, s.a, s.rng)
    data, q, _, T, _, _ = Peer(moved)._state(w)
    M = pin.crba(peer.model, data, q)
    back = np.linalg.inv(T)
    return back.T @ (np.triu(M) + np.triu(M, 1).T) @ back
