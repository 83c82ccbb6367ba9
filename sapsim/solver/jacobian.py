"""Contact frames and Jacobians by ancestor path.

    C frame: z = n from A to B, x and y from n alone (sap_formulas 2.2), so v_n > 0 separates
    J = R_WC' (Jv_B - Jv_A) at the contact point, as 3x3 blocks over the blocks of degrees of freedom on the ancestor paths

Sides and slots: solver/paths.py.
"""

from functools import cache

import warp as wp

from sapsim.model.arrays import make_struct
from sapsim.model.stage import Stage, make_stage
from sapsim.solver.paths import ARRAYS as PATHS
from sapsim.solver.paths import make_paths

ARRAYS = ("shape_body", "ncontact", "contact_a", "contact_b", "contact_p", "contact_n", "contact_R_WC", *PATHS)
SCALARS = (("slots", "int"),)


@cache
def make(R) -> Stage:
    """The stage `jacobian`; writes contact_tree, contact_entries, contact_R_WC, J and J_block."""
    real, vec3, mat33 = R.t, R.vec3, R.mat33
    struct = make_struct("Jacobian", R, ARRAYS, SCALARS)
    sides = make_paths(R, struct).sides

    @wp.func
    def frame(n: vec3) -> mat33:
        """R_WC, columns x, y, z = n."""
        i = int(0)
        if wp.abs(n[1]) < wp.abs(n[0]):
            i = 1
        if wp.abs(n[2]) < wp.abs(n[i]):
            i = 2
        u_i = n[i]
        u_j = n[(i + 1) % 3]
        u_k = n[(i + 2) % 3]
        mag = wp.sqrt(real(1.0) - u_i * u_i)
        r = real(1.0) / mag
        zero = real(0.0)
        x_j = -r * u_k
        x_k = r * u_j
        y_j = -r * u_i * u_j
        y_k = -r * u_i * u_k
        if i == 0:
            return mat33(zero, mag, n[0], x_j, y_j, n[1], x_k, y_k, n[2])
        if i == 1:
            return mat33(x_k, y_k, n[0], zero, mag, n[1], x_j, y_j, n[2])
        return mat33(x_j, y_j, n[0], x_k, y_k, n[1], zero, mag, n[2])

    @wp.func
    def jacobian(s: struct, w: int, lane: int):
        for c in range(lane, s.ncontact[w], wp.block_dim()):
            R_WC = frame(s.contact_n[w, c])
            s.contact_R_WC[w, c] = R_WC
            p = s.contact_p[w, c]
            body_a = s.shape_body[s.contact_a[w, c]]
            body_b = s.shape_body[s.contact_b[w, c]]
            sides(s, w, c, body_a, body_b, p, p, wp.transpose(R_WC), 0)

    return make_stage("jacobian", R, struct, jacobian, SCALARS)
