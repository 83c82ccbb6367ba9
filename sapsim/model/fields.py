"""Every device array, once: name, shape, type, unit, frame, the stage that writes it, and what it is.

Groups:
    topology  constant, the same in all worlds, no world axis
    model     physical parameters, constant in time, leading world axis of length 1 or W (stride 0 when shared)
    data      state, what a step computes, and what is recorded; leading world axis of length W
    dynamics  what only the dynamics functions use (sapsim.dynamics); a simulation does not allocate them; axes as of data

Internal order of velocities: every tree's degrees of freedom are padded to a multiple of three, so that linear algebra
runs on 3x3 blocks.  `ndof` counts padded entries, `nblock` = ndof / 3; a padded entry has velocity zero, a unit diagonal in A
and no part in any norm.  A type "vec3@x" is array x seen as blocks of three.
Frames follow monogram notation (docs/conventions.md): T is a tree's reference point, its mass centre, with world axes.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Field:
    """One device array.  `dims` are symbols of `model.sizes` without the world axis."""

    name: str
    group: str
    dims: tuple[str, ...]
    type: str
    unit: str
    frame: str
    stage: str
    doc: str


def _rows(group: str, table: str) -> list[Field]:
    fields = []
    for line in table.strip().splitlines():
        name, dims, type_, unit, frame, stage, doc = (c.strip() for c in line.split("|", 6))
        fields.append(Field(name, group, tuple(dims.split()), type_, unit, frame, stage, doc))
    return fields


_TOPOLOGY = """
tree_body_start   | ntree+1  | int | -  | - | build | bodies of tree t: [t] .. [t+1], depth first
tree_block_start  | ntree+1  | int | -  | - | build | 3-blocks of degrees of freedom of tree t
tree_A_start      | ntree+1  | int | -  | - | build | lower 3x3 blocks of A of tree t, row by row: r (r+1)/2 + c
body_parent       | nbody    | int | -  | - | build | parent body, -1 = world
body_last         | nbody    | int | -  | - | build | last body of the subtree (depth-first order makes it a range)
body_joint        | nbody    | int | -  | - | build | code of the joint kind that carries the body
body_q_start      | nbody    | int | -  | - | build | first coordinate of that joint
body_dof_start    | nbody    | int | -  | - | build | first (padded) degree of freedom of that joint
body_nv           | nbody    | int | -  | - | build | number of its degrees of freedom
body_tree         | nbody    | int | -  | - | build | tree of the body
body_path_start   | nbody+1  | int | -  | - | build | 3-blocks that hold degrees of freedom of the body's ancestors or itself
body_path         | npath    | int | -  | - | build | those blocks, ascending
body_path_mask    | npath    | int | -  | - | build | bit i: degree of freedom i of the block moves the body
body_force_start  | nbody+1  | int | -  | - | build | applied forces of the body
dof_body          | ndof     | int | -  | - | build | body that the degree of freedom carries, -1 = padding
force_link        | nforce   | int | -  | - | build | link on which an applied force acts; those on links that are fixed in the world stand last
force_frame       | nforce   | int | -  | - | build | 0: components in world axes, 1: in the body's
shape_body        | nshape   | int | -  | - | build | moving body of a shape, -1 = fixed in the world
shape_link        | nshape   | int | -  | - | build | its link, -1 = the world
pair_a            | npair    | int | -  | - | build | first shape of a pair that is tested (pair_a < pair_b, sorted)
pair_b            | npair    | int | -  | - | build | second shape
pair_kind         | npair    | int | -  | - | build | 2 code of the pair kind + 1 where it takes the shapes in the other order
pair_material     | npair    | int | -  | - | build | which two materials meet in the pair (model/material_pairs.py)
link_body         | nlink    | int | -  | - | build | moving body a link belongs to, -1 = fixed in the world
link_parent       | nlink    | int | -  | - | build | link on which its joint sits, -1 = world
root_link_start   | nroot+1  | int | -  | - | build | links that stand on one joint from the world
root_link         | nlink    | int | -  | - | build | those links, parents before children
joint_link        | njoint   | int | -  | - | build | child link of a joint
row_offset        | none     | int | -  | - | block | [0]: rows recorded before the block
coordinate_from   | nq       | int | -  | - | build | internal coordinate of an external one
dof_from          | nv       | int | -  | - | build | internal first entry of the joint of an external velocity
dof_entry         | nv       | int | -  | - | build | which of the joint's velocities it is
dof_to_body       | nv       | int | -  | - | build | body of that joint, -1 where it is locked
constraint_kind   | nconstraint | int | - | - | build | code of the kind of a constraint row; rows are in the order of files
constraint_coordinate | nconstraint | int | - | - | build | coordinate on which it acts
constraint_block  | nconstraint | int | - | - | build | 3-block of its degree of freedom
constraint_tree   | nconstraint | int | - | - | build | tree of that
tree_constraint_start | ntree+1 | int | - | - | build | constraint rows of a tree
tree_constraint   | nconstraint | int | - | - | build | those rows, ascending
group_start       | ngroup+1 | int | -  | - | build | constraint rows of one joint whose sum is bounded
group_constraint  | nconstraint | int | - | - | build | those rows
"""

_MODEL = """
body_mass      | nbody   | real  | kg      | -  | build | mass
body_com       | nbody   | vec3  | m       | B  | build | p_BoBcm_B
body_inertia   | nbody   | mat33 | kg m^2  | B  | build | I_BBcm_B
body_p_PF      | nbody   | vec3  | m       | P  | build | joint frame on the parent body (world where there is none)
body_Q_PF      | nbody   | quat  | -       | P  | build | its orientation
body_axis      | nbody   | vec3  | -       | F  | build | joint axis
body_axis2     | nbody   | vec3  | - or m/rad | F | build | a universal joint's second axis; pitch times axis of a screw; else zero
dof_armature   | ndof    | real  | kg or kg m^2      | - | build | reflected inertia on A's diagonal
dof_damping    | ndof    | real  | N s/m or N m s/rad | - | build | viscous damping, implicit in A
dof_stiffness  | ndof    | real  | N/m or N m/rad | - | build | spring of a joint of one degree of freedom
dof_reference  | ndof    | real  | m or rad | - | build | coordinate at which it is at rest
dof_effort     | ndof    | real  | N or N m | - | build | effort of open-loop actuators
constraint_J   | nconstraint | vec3 | -  | -  | build | its Jacobian in its 3-block: 1 or -1 at one place
group_bounds   | ngroup  | vec2  | N or N m | - | build | least and greatest sum of the efforts of such rows
constraint_parameters | nconstraint | vec8 | - | - | build | numbers of the row, as its kind orders them
tree_gravity   | ntree   | vec3  | m/s^2   | W  | build | gravity of the tree
shape_size     | nshape  | vec3  | m       | -  | build | sizes of the shape, as its kind orders them
shape_p_BG     | nshape  | vec3  | m       | B  | build | shape frame on the body
shape_R_BG     | nshape  | mat33 | -       | B  | build | its orientation
shape_radius   | nshape  | real  | m       | -  | build | radius of a ball about Go that holds the shape
shape_material | nshape  | vec4  | N/m, s/m, s, - | - | build | stiffness, dissipation, relaxation time, friction
link_p_BL      | nlink   | vec3  | m       | B  | build | link frame on its body
link_Q_BL      | nlink   | quat  | -       | B  | build | its orientation
link_com       | nlink   | vec3  | m       | L  | build | the link's own mass centre, zero where it has no mass
link_mass      | nlink   | real  | kg      | -  | build | the link's own mass
link_inertia   | nlink   | mat33 | kg m^2  | L  | build | its own inertia about its mass centre
link_gravity   | nlink   | vec3  | m/s^2   | W  | build | gravity that it feels
force_p_BP     | nforce  | vec3  | m       | B  | build | point of application
force_F        | nforce  | vec6  | N m, N  | W or B | build | torque and force
force_from     | nforce  | real  | s       | -  | build | first instant of activity
force_until    | nforce  | real  | s       | -  | build | end of activity
"""

_DATA = """
step           |         | int   | -      | - | integrate   | steps done
stopped        |         | int   | -      | - | integrate   | 1 after a failure: the world's state is kept
q              | nq      | real  | m, rad, - | - | integrate | coordinates, internal order
v              | ndof    | real  | m/s, rad/s | - | integrate | velocities v0 of the step
v_in           | ndof    | real  | m/s, rad/s | - | set_velocity | velocities of files, in internal places
v_b            | nblock  | vec3@v | m/s, rad/s | - | integrate | v in blocks
p_WB           | nbody   | vec3  | m      | W | kinematics  | body origin
Q_WB           | nbody   | quat  | -      | W | kinematics  | body orientation
R_WB           | nbody   | mat33 | -      | W | kinematics  | the same as a matrix
V_WB           | nbody   | vec6  | rad/s, m/s | W at Bo | kinematics | body twist
A_WB           | nbody   | vec6  | rad/s^2, m/s^2 | W at Bo | kinematics | acceleration at zero joint acceleration, less gravity
R_WF           | nbody   | mat33 | -      | W | kinematics  | orientation of the joint frame on the parent
p_WT           | ntree   | vec3  | m      | W | kinematics  | reference point of the tree: its mass centre
S_T            | ndof    | vec6  | -      | W at T | kinematics | motion subspace
F_applied      | nbody   | vec6  | N m, N | W at Bo | forces  | applied torque and force
F_T            | nbody   | vec6  | N m, N | W at T | rne      | force that the subtree's motion needs
tau            | ndof    | real  | N, N m | - | rne         | applied + open-loop effort - bias - damping v0 - springs
tau_b          | nblock  | vec3@tau | N, N m | - | rne      | tau in blocks
I_T            | nbody   | vec10 | kg, kg m, kg m^2 | W at T | crba | composite inertia of the subtree
A              | nA      | mat33 | kg, kg m, kg m^2 | - | crba | lower blocks of M + armature + h damping
dinv           | nblock  | vec3  | 1/A    | - | crba        | 1 / diag(A), zero in padding
L              | nA      | mat33 | A^0.5  | - | free_motion | Cholesky factor of A per tree; its diagonal blocks are inverted
v_star         | ndof    | real  | m/s, rad/s | - | free_motion | v0 + h A^-1 tau
v_star_b       | nblock  | vec3@v_star | m/s, rad/s | - | free_motion | v_star in blocks
p_free         | nblock  | vec3  | N s, N m s | - | free_momentum | A v0 + h tau, in the momentum form
free_status    | ntree   | int   | -      | - | free_motion | 1 where A of the tree could not be factorised
p_WG           | nshape  | vec3  | m      | W | broadphase  | shape origin
R_WG           | nshape  | mat33 | -      | W | broadphase  | shape orientation
lane_count     | nlane   | int   | -      | - | broadphase  | what each lane found, to be scanned
near_pair      | cnear   | int   | -      | - | broadphase  | pairs whose bounds touch, ascending
near_count     |         | int   | -      | - | broadphase  | their number; may exceed the room
near_n         | cnear   | vec3  | -      | W | narrowphase | normal from A to B
near_points    | cnear   | int   | -      | - | narrowphase | contact points of the pair
point_p        | cpoint  | vec3  | m      | W | narrowphase | witness point on A, eight slots to a near pair
point_depth    | cpoint  | real  | m      | - | narrowphase | depth, > 0 = overlap
point_feature  | cpoint  | int   | -      | - | narrowphase | feature id
ncontact       |         | int   | -      | - | narrowphase | contacts of the step, within the room
contact_pair   | ccontact | int  | -      | - | narrowphase | pair of the contact
contact_feature | ccontact | int | -      | - | narrowphase | feature id
contact_p      | ccontact | vec3 | m      | W | narrowphase | contact point
contact_n      | ccontact | vec3 | -      | W | narrowphase | normal from A to B
contact_depth  | ccontact | real | m      | - | narrowphase | depth, > 0 = overlap
contact_tree   | ccontact | vec2i | -     | - | jacobian    | trees of the one or two sides, -1 = none
contact_entries | ccontact | vec2i | -    | - | jacobian    | Jacobian blocks of the sides
contact_mu     | ccontact | real | -      | - | problem     | friction of the pair
contact_R_WC   | ccontact | mat33 | -     | W | jacobian    | contact frame, z = normal
contact_row    | ccontact | vec8 | -      | - | problem     | what the law froze for this step
J              | cjac    | mat33 | -      | C | jacobian    | Jacobian blocks, a fixed number of slots to a contact
J_block        | cjac    | int   | -      | - | jacobian    | 3-block of degrees of freedom of the block
constraint_row | nconstraint | vec4 | 1/A, m/s, N s | - | constraints | what is frozen for the step: R, v_hat, least and greatest impulse; R = 0: not active
npart          |         | int   | -      | - | participants | trees that take part in the solve
tree_part      | ntree   | int   | -      | - | participants | place among them, -1 = not
part_tree      | ntree   | int   | -      | - | participants | the tree
part_start     | ntree+1 | int   | -      | - | participants | contact sides of a participating tree
part_side      | cside   | int   | -      | - | participants | 2 contact + side, in order of the contacts
nactive        |         | int   | -      | - | participants | active constraint rows
active_constraint | nconstraint | int | -  | - | participants | those rows, ascending
v_next         | ndof    | real  | m/s, rad/s | - | newton  | velocity at the end of the step
v_next_b       | nblock  | vec3@v_next | m/s, rad/s | - | newton | v_next in blocks
vc             | ccontact | vec3 | m/s    | C | newton      | contact velocity
dvc            | ccontact | vec3 | m/s    | C | newton      | its change along the search direction
gamma          | ccontact | vec3 | N s    | C | newton      | impulse on B
G              | ccontact | mat33 | kg    | C | newton      | Hessian of the contact's cost
constraint_vc  | nconstraint | real | m/s, rad/s | - | newton | velocity of an active row
constraint_dvc | nconstraint | real | m/s, rad/s | - | newton | its change along the search direction
constraint_gamma | nconstraint | real | N s, N m s | - | newton | impulse of a row, zero where it is not active
constraint_G   | nconstraint | real | A | - | newton   | second derivative of an active row's cost
reaction       | nreaction | vec6 | N m, N | L at Lo | reactions | what the joint of a link puts on it, in steps that end in a row
grad           | nblock  | vec3  | N s, N m s | - | newton  | A (v - v_star) - J' gamma
momentum       | nblock  | vec3  | N s, N m s | - | newton  | A (v - v_star)
Av_star        | nblock  | vec3  | N s, N m s | - | newton  | A v_star
Adv            | nblock  | vec3  | N s, N m s | - | newton  | A dv
dv             | nblock  | vec3  | m/s, rad/s | - | newton  | search direction
part_sum       | ntree   | vec4  | J      | - | newton      | partial sums of the trees
lane_sum       | nsum    | vec3  | J      | - | newton      | partial sums of contacts and constraints, 32 of them
edge           | nedge   | uint64 | -     | - | newton      | elimination graph, a row of bits to a tree
part_order     | ntree   | int   | -      | - | newton      | elimination order
part_rank      | ntree   | int   | -      | - | newton      | place in it
column_start   | ntree+1 | int   | -      | - | newton      | trees with rows below the diagonal of an elimination column
column_part    | chess   | int   | -      | - | newton      | those trees, in elimination order
column_row     | chess   | int   | -      | - | newton      | first of the tree's rows in row_block
row_start      | ntree+1 | int   | -      | - | newton      | 3x3 block rows below the diagonal tree of a column
row_block      | chess   | int   | -      | - | newton      | their blocks of degrees of freedom, in elimination order
row_at         | nblock  | int   | -      | - | newton      | place of a block row in the column at work
left_start     | ntree+1 | int   | -      | - | newton      | earlier columns with rows of a tree
left_column    | chess   | int   | -      | - | newton      | those columns, in elimination order
left_row       | chess   | int   | -      | - | newton      | first of the tree's rows there, in row_block
column_base    | ntree   | int   | -      | - | newton      | first block of a column in H
contact_cross  | ccontact | vec2i | -     | - | newton      | side whose tree is eliminated first; first row of the other's tree in row_block
H              | chess   | mat33 | A      | - | newton      | Hessian blocks, then their Cholesky factor
H_inv          | nblock  | mat33 | A^-0.5 | - | newton      | inverses of the factor's diagonal blocks
solve_int      | nsolve_int | int | -   | - | newton      | status bits; 1 optimality reached + 2 cost reached; Newton and line-search iterations
solve_real     | nmerged_real | real | J^0.5, J | - | newton | residual ||D grad||, its scale, cost; D = diag(A)^-1/2
need           | nneed   | int   | -      | - | newton      | most near pairs, contacts and Hessian blocks asked for
total          | ntotal  | wp.int64 | -   | - | counters    | counters over the run (step/record.py)
softened_count | nsoftened | wp.int64 | - | - | counters | contacts that the near-rigid limit softened, by pair of materials and stiffness as realised (step/softened.py)
softened_least | nmaterial_pair | real | N/m | - | counters | least stiffness as realised, 0 where there was none
merged         | nmerged | int   | -      | - | counters    | statistics since the last recorded row
merged_real    | nmerged_real | real | -  | - | counters    | residual, scale, cost of that row
"""

_RECORD = """
rec_step           | crow       | int    | - | - | record_state | step of the row
rec_q              | crow nq    | real   | m, rad, - | - | record_state | coordinates in the order of files
rec_qd             | crow nv    | real   | m/s, rad/s | - | record_state | velocities in the order of files
rec_p              | crow nlink | vec3   | m | W | record_state | link origin
rec_Q              | crow nlink | quat   | - | W | record_state | link orientation
rec_V              | crow nlink | vec6   | m/s, rad/s | W at Lcm | record_state | [v_com; omega]
rec_stat           | crow nstat | int    | - | - | record_state | integers of the row (step/record.py)
rec_real           | crow nmerged_real | real | - | - | record_state | residual, scale, cost
rec_constraint     | crow nconstraint | real | N s, N m s | - | record_state | impulses of constraint rows
rec_reaction       | crow nreaction | vec6 | N m, N | L at Lo | record_state | torque and force of a joint on its child link
rec_pair           | crow ccontact | int | - | - | record_contacts | pair of a contact
rec_feature        | crow ccontact | int | - | - | record_contacts | its feature
rec_point          | crow ccontact | vec3 | m | W | record_contacts | contact point
rec_normal         | crow ccontact | vec3 | - | W | record_contacts | normal
rec_impulse        | crow ccontact | vec3 | N s | W | record_contacts | impulse on B
rec_slip           | crow ccontact | vec3 | m/s | W | record_contacts | tangential velocity of B against A
rec_scalars        | crow ccontact | vec3 | m, N/m, - | - | record_contacts | depth, stiffness as realised, friction
"""

_DYNAMICS = """
v_out          | nv      | real  | m/s, rad/s | - | get_velocity | velocities in the order of files
vdot           | ndof    | real  | m/s^2, rad/s^2 | - | aba  | joint accelerations; given to `inverse`
dA_T           | nbody   | vec6  | rad/s^2, m/s^2 | W at T | inverse | what joint accelerations add to a body's acceleration
tau_motion     | ndof    | real  | N, N m | - | inverse     | generalized force that the motion needs beside applied forces; given to `aba`
IA_ww          | nbody   | mat33 | kg m^2 | W at T | aba    | articulated inertia, angular block
IA_wv          | nbody   | mat33 | kg m   | W at T | aba    | its coupling block, angular rows
IA_vv          | nbody   | mat33 | kg     | W at T | aba    | its linear block
U_T            | ndof    | vec6  | kg, kg m, kg m^2 | W at T | aba | articulated inertia times S
pivot          | ndof    | vec2  | 1/A, N, N m | - | aba     | 1 / (S' IA S + armature), and the force left for the degree of freedom
"""

FIELDS: dict[str, Field] = {
    f.name: f
    for f in (
        _rows("topology", _TOPOLOGY)
        + _rows("model", _MODEL)
        + _rows("data", _DATA)
        + _rows("record", _RECORD)
        + _rows("dynamics", _DYNAMICS)
    )
}
