"""Every device array, once: name, shape, type, unit, frame, the stage that writes it, and what it is.

Groups:
    topology  constant, the same in all worlds, no world axis
    model     physical parameters, constant in time, leading world axis of length 1 or W (stride 0 when shared)
    data      state, what a step computes, and what is recorded; leading world axis of length W
    dynamics  what only the dynamics functions use (sapsim.dynamics); a simulation does not allocate them; axes as of data

Internal order of velocities: every tree's degrees of freedom are padded to a multiple of three, so that linear algebra
runs on 3x3 blocks.  `ndof` counts padded entries, `nblock` = ndof / 3; a padded entry has velocity zero, a unit diagonal in A
and no part in any norm.  A type "vec3@x" is array x seen as blocks of three; "wide.vec3" is one over R.wide (math/real.py).
Frames follow monogram notation (docs/conventions.md): T is a tree's reference point, its mass centre, with world axes.
"""

from dataclasses import dataclass

from sapsim.model.mesh_fields import MESH_MODEL, MESH_TOPOLOGY


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
factor_tree       | ntree    | int | -  | - | build | trees by how A is factorised: nsmall dense ones of a lane each, dense ones to `ndense`, sparse ones
block_parent      | nblock   | int | -  | - | build | parent in the tree of 3-blocks (model/trees.py), -1 = none
block_depth       | nblock   | int | -  | - | build | number of its ancestors
block_last        | nblock   | int | -  | - | build | last block of its subtree, which is a range
A_row             | nblock   | int | -  | - | build | first block of a row of A, which holds the path from the root: (r, c) at A_row[r] + block_depth[c]
A_mask            | nA       | int | -  | - | build | bit 3 i + j: entry (i, j) of a block of A is no structural zero
L_row             | nblock   | int | -  | - | build | first block of a row of the factor: all of the tree up to the diagonal where it is dense, as in A where it is sparse
L_diagonal        | nblock   | int | -  | - | build | its last one, on the diagonal
sparse_start      | nsparse_part+1 | int | - | - | build | blocks of sparse factors by depth d in the tree of blocks: [2 d] on the diagonal, [2 d + 1] the others
sparse_row        | nsparse  | int | -  | - | build | row of such a block
sparse_place      | nsparse  | int | -  | - | build | its place in the row: depth of its column
level_start       | nlevel+1 | int | -  | - | build | bodies of one depth, over all trees
level_body        | nbody    | int | -  | - | build | those bodies, ascending
child_start       | nbody+1  | int | -  | - | build | bodies whose parent is the body
child_body        | nchild   | int | -  | - | build | those bodies, descending
body_parent       | nbody    | int | -  | - | build | parent body, -1 = world
body_joint        | nbody    | int | -  | - | build | code of the joint kind that carries the body
body_q_start      | nbody    | int | -  | - | build | first coordinate of that joint
body_dof_start    | nbody    | int | -  | - | build | first (padded) degree of freedom of that joint
body_nv           | nbody    | int | -  | - | build | number of its degrees of freedom
body_link         | nbody    | int | -  | - | build | root link of the body, whose frame is the body's
body_q_from       | nbody    | int | -  | - | build | first coordinate of the body's joint in the order of files
body_qd_from      | nbody    | int | -  | - | build | first velocity of the body's joint in the order of files
body_tree         | nbody    | int | -  | - | build | tree of the body
body_path_start   | nbody+1  | int | -  | - | build | 3-blocks that hold degrees of freedom of the body's ancestors or itself
body_path         | npath    | int | -  | - | build | those blocks, ascending
body_path_mask    | npath    | int | -  | - | build | bit i: degree of freedom i of the block moves the body
body_force_start  | nbody+1  | int | -  | - | build | applied forces of the body
dof_body          | ndof     | int | -  | - | build | body that the degree of freedom carries, -1 = padding
force_link        | nforce   | int | -  | - | build | link on which an applied force acts; those on links that are fixed in the world stand last
input_start       | ninput+1 | int | -  | - | build | times and values of an input channel
input_hold        | ninput   | int | -  | - | build | 1: a value lasts until the next time, 0: linear in between
constraint_input_start | nscalar+1 | int | - | - | build | parameters of a row that change with time
constraint_input_place | nrowinput | int | - | - | build | place among the row's parameters
constraint_input  | nrowinput | int | - | - | build | input channel of that
effort_start      | ndof+1   | int | -  | - | build | open-loop efforts of a degree of freedom that change with time
effort_input      | neffort  | int | -  | - | build | input channel of that
force_input       | nforce   | int | -  | - | build | first of six input channels (torque, force), -1: constant
force_frame       | nforce   | int | -  | - | build | 0: components in world axes, 1: in the body's
shape_body        | nshape   | int | -  | - | build | moving body of a shape, -1 = fixed in the world
shape_link        | nshape   | int | -  | - | build | its link, -1 = the world
shape_kind        | nshape   | int | -  | - | build | code of its kind
shape_contype     | nshape   | int | -  | - | build | bits: two shapes meet where contype of one and conaffinity of the other share one
shape_conaffinity | nshape   | int | -  | - | build | the other bits
shape_instance    | nshape   | int | -  | - | build | twice the number of its instance, plus one where the instance's links may touch one another; -1 of the world
shape_level       | nlevelled | int | -  | - | build | level of the shape in the grid, -1 = tested against all others, -2 = never tested (model/grid.py)
grid_shape        | ngrid    | int | -  | - | build | shapes in the grid, ascending
large_shape       | nlarge   | int | -  | - | build | shapes that are tested against all others
kind_pair         | nshapekind2 | int | - | - | build | near_kind of two kinds of shapes, -1 = they have no pair
excluded_start    | nlink+1  | int | -  | - | build | links of a lower number with which a link is not tested
excluded_link     | nexcluded | int | - | - | build | those links, ascending, -1 = the world
pair_a            | npair    | int | -  | - | build | first shape of a pair that is tested (pair_a < pair_b, sorted); small models only (model/pairs.py)
pair_b            | npair    | int | -  | - | build | second shape
run_start         | nrun+1   | int | -  | - | build | pairs of a run, which have one first shape (model/pair_runs.py)
run_body          | nrun     | int | -  | - | build | body of all second shapes of a run, -1 = several
pair_kind         | npair    | int | -  | - | build | 2 code of the pair kind + 1 where it takes the shapes in the other order
shape_surface     | nshape   | int | -  | - | build | which material the shape has (model/material_pairs.py)
surface_pair      | nsurface2 | int | - | - | build | which two materials meet, at nsurface i + j
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
constraint_kind   | nscalar  | int | -  | - | build | code of the kind of a scalar constraint row; rows are in the order of files, scalar ones first
constraint_coordinate | nscalar | int | - | - | build | coordinate on which it acts
constraint_block  | nscalar  | int | -  | - | build | 3-block of its degree of freedom
constraint_tree   | nscalar  | int | -  | - | build | tree of that
tree_constraint_start | ntree+1 | int | - | - | build | scalar constraint rows of a tree
tree_constraint   | nscalar  | int | -  | - | build | those rows, ascending
group_start       | ngroup+1 | int | -  | - | build | constraint rows of one joint whose sum is bounded
group_constraint  | nscalar  | int | -  | - | build | those rows
group_dof         | ngroup   | int | -  | - | build | degree of freedom of such a joint
tie_kind          | ntie     | int | -  | - | build | code of the kind of a constraint over several degrees of freedom
tie_body_a        | ntie     | int | -  | - | build | moving body A of its frame P, -1 = fixed in the world
tie_body_b        | ntie     | int | -  | - | build | moving body B of its frame Q
tie_link_a        | ntie     | int | -  | - | build | link of frame P, -1 = the world, and of ties over joint coordinates
tie_link_b        | ntie     | int | -  | - | build | link of frame Q
tie_item          | ntie+1   | int | -  | - | build | its items, three rows each
item_row          | nitem+1  | int | -  | - | build | constraint rows of an item; the rest of the three are zero
tie_term          | ntie+1   | int | -  | - | build | terms of a tie that acts on joint coordinates, by tree and block
term_dof          | nterm    | int | -  | - | build | degree of freedom of a term
term_coordinate   | nterm    | int | -  | - | build | its coordinate
term_tree         | nterm    | int | -  | - | build | its tree
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
input_time     | ninputpoint | real | s  | -  | build | times of the input channels
input_value    | ninputpoint | real | of its user | - | build | values at those times
effort_limit   | neffort | real  | N or N m | - | build | bound of such an effort
effort_reach   | ndof    | real  | N or N m | - | build | what drives with gains can add where efforts change
effort_bound   | ndof    | real  | N or N m | - | build | bound of the sum of the joint's actuators there
constraint_J   | nscalar | vec3  | -       | -  | build | Jacobian of a scalar row in its 3-block: 1 or -1 at one place
group_bounds   | ngroup  | vec2  | N or N m | - | build | least and greatest sum of the efforts of such rows
constraint_parameters | nscalar | vec8 | - | -  | build | numbers of the row, as its kind orders them
tie_parameters | ntie    | vec8  | -       | -  | build | numbers of the tie, as its kind orders them
tie_bias       | ntie    | vec3  | m or rad | - | build | constant part of the residual of its first three rows
tie_p_BP       | ntie    | vec3  | m       | A  | build | frame P on body A, in world where that is fixed
tie_Q_BP       | ntie    | quat  | -       | A  | build | its orientation
tie_p_BQ       | ntie    | vec3  | m       | B  | build | frame Q on body B, in world where that is fixed
tie_Q_BQ       | ntie    | quat  | -       | B  | build | its orientation
term_coefficient | nterm | vec3  | -       | -  | build | coefficients of a term's coordinate in the three rows
tree_gravity   | ntree   | vec3  | m/s^2   | W  | build | gravity of the tree
shape_size     | nshape  | vec3  | m       | -  | build | sizes of the shape, as its kind orders them
shape_p_BG     | nshape  | vec3  | m       | B  | build | shape frame on the body
shape_R_BG     | nshape  | mat33 | -       | B  | build | its orientation
shape_radius   | nshape  | real  | m       | -  | build | radius of a ball about Go that holds the shape
shape_low      | nshape  | vec3  | m       | G  | build | box which, added to an ellipsoid, holds the shape: least coordinates, -inf of planes
shape_high     | nshape  | vec3  | m       | G  | build | its greatest coordinates
shape_round    | nshape  | vec3  | m       | G  | build | semi-axes of that ellipsoid
body_reach     | nbody   | real  | m       | -  | build | radius of a ball about Bo that holds the body's shapes
level_reach    | ngridlevel | real  | m       | -  | build | largest half extent of the shapes of a level of the grid
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
p_WBcm         | nbody   | vec3  | m      | W | kinematics  | the body's mass centre
p_WT           | ntree   | vec3  | m      | W | kinematics  | reference point of the tree: its mass centre
S_T            | ndof    | vec6  | -      | W at T | kinematics | motion subspace
signal         | ninput  | real  | of its user | - | inputs | values of the input channels at the step's start
dof_input      | ndof    | real  | N or N m | - | inputs | sum of the efforts that change, bounded
drive_range    | ndof    | vec2  | N or N m | - | inputs | least and greatest effort left for drives with gains
F_applied      | nbody   | vec6  | N m, N | W at Bo | forces  | applied torque and force
F_T            | nbody   | vec6  | N m, N | W at T | rne      | force that the subtree's motion needs
tau            | ndof    | real  | N, N m | - | rne         | applied + open-loop effort - bias - damping v0 - springs
tau_b          | nblock  | vec3@tau | N, N m | - | rne      | tau in blocks
I_T            | nbody   | vec10 | kg, kg m, kg m^2 | W at T | crba | composite inertia of the subtree
A              | nA      | mat33 | kg, kg m, kg m^2 | - | crba | lower blocks of M + armature + h damping
dinv           | nblock  | vec3  | 1/A    | - | crba        | 1 / diag(A), zero in padding
L              | nL      | mat33 | A^0.5  | - | free_motion | factor of A per tree (linalg/tree_factor.py); its diagonal blocks are inverted
solve_b        | nblock  | vec3  | N s    | - | free_motion | a solution half done
v_star         | ndof    | real  | m/s, rad/s | - | free_motion | v0 + h A^-1 tau
v_star_b       | nblock  | vec3@v_star | m/s, rad/s | - | free_motion | v_star in blocks
p_free         | nblock  | vec3  | N s, N m s | - | free_momentum | A v0 + h tau, in the momentum form
free_status    | ntree   | int   | -      | - | free_motion | 1 where A of the tree could not be factorised
p_WG           | nshape  | vec3  | m      | W | broadphase  | shape origin
R_WG           | nshape  | mat33 | -      | W | broadphase  | shape orientation
lane_count     | nlane   | int   | -      | - | broadphase  | what each lane found, to be scanned
c_WG           | nlevelled | vec3  | m      | W | broadphase  | centre of the shape's bounds
e_WG           | nlevelled | vec3  | m      | W | broadphase  | their half extents
cell_x         | nlevelled | int   | -      | - | broadphase  | cell of the grid in which the centre lies
cell_y         | nlevelled | int   | -      | - | broadphase  | the same along y
cell_z         | nlevelled | int   | -      | - | broadphase  | the same along z
shape_bucket   | ngrid   | int   | -      | - | broadphase  | bucket of the cell
bucket_start   | nbucket+1 | int | -      | - | broadphase  | shapes in a bucket
bucket_shape   | ngrid   | int   | -      | - | broadphase  | those shapes, ascending
bucket_c       | ngrid   | vec3  | m      | W | broadphase  | their c_WG
bucket_e       | ngrid   | vec3  | m      | W | broadphase  | their e_WG
found_a        | cfound  | int   | -      | - | broadphase  | the near list on its way to its order
found_b        | cfound  | int   | -      | - | broadphase  | the same of second shapes
sort_start     | nlevelled | int   | -      | - | broadphase  | places of a shape's pairs in it
near_a         | cnear   | int   | -      | - | broadphase  | near pairs, whose bounds touch: the first shape; ascending by (a, b, part), a < b
near_b         | cnear   | int   | -      | - | broadphase  | the second shape
near_kind      | cnear   | int   | -      | - | broadphase  | 2 code of the pair kind + 1 where it takes the shapes in the other order
near_part      | cnear   | int   | -      | - | broadphase  | -1 = the whole shape; of a surface: its parts in the stage `convex`, or -2 = none (collide/parts.py), then their facets
near_count     |         | int   | -      | - | broadphase  | their number; may exceed the room
near_n         | cnear   | vec3  | -      | W | narrowphase | normal from A to B
near_points    | cnear   | int   | -      | - | narrowphase | contact points of the pair
point_p        | cpoint  | vec3  | m      | W | narrowphase | witness point on A, eight slots to a near pair, and eight that one lane uses for all
point_depth    | cpoint  | real  | m      | - | narrowphase | depth, > 0 = overlap
point_feature  | cpoint  | int   | -      | - | narrowphase | feature id
convex_point   | cconvex | vec4  | -      | - | convex      | room of a lane for a pair of convex shapes (kinds/convexity.py)
convex_name    | cconvex | int   | -      | - | convex      | the same
ncontact       |         | int   | -      | - | narrowphase | contacts of the step, within the room
contact_found  |         | int   | -      | - | narrowphase | contacts that there were, of which the room may hold only the first
contact_a      | ccontact | int  | -      | - | narrowphase | first shape of the contact, contact_a < contact_b
contact_b      | ccontact | int  | -      | - | narrowphase | second shape
contact_part   | ccontact | int | -       | - | narrowphase | facet of a surface, -1 = none
contact_feature | ccontact | int | -      | - | narrowphase | feature id
contact_p      | ccontact | vec3 | m      | W | narrowphase | contact point
contact_n      | ccontact | vec3 | -      | W | narrowphase | normal from A to B
contact_depth  | ccontact | real | m      | - | narrowphase | depth, > 0 = overlap
contact_tree   | citem   | vec2i | -      | - | jacobian    | trees of the one or two sides, -1 = none; of contacts, then of items of ties, as all arrays over citem
contact_entries | citem  | vec2i | -      | - | jacobian    | Jacobian blocks of the sides
contact_mu     | ccontact | real | -      | - | problem     | friction of the pair
contact_R_WC   | ccontact | mat33 | -     | W | jacobian    | contact frame, z = normal
contact_row    | ccontact | vec8 | -      | - | problem     | what the law froze for this step
J              | cjac    | mat33 | -      | C | jacobian    | Jacobian blocks, a fixed number of slots to a contact or item
J_block        | cjac    | int   | -      | - | jacobian    | 3-block of degrees of freedom of the block
item_gap       | nitem   | vec3  | m, rad | - | ties        | residuals of an item's rows at the start of the step
constraint_row | nconstraint | vec4 | 1/A, m/s, N s | - | constraints | what is frozen for the step: R, v_hat, least and greatest impulse; R = 0: not active
npart          |         | int   | -      | - | participants | trees that take part in the solve
used_tree      | ntree   | int   | -      | - | participants | those trees, in order of first use
tree_root      | ntree   | int   | -      | - | participants | of a tree in use: one nearer to its island's first, itself where it is that
tree_sides     | ntree   | int   | -      | - | participants | its contact sides
tree_island    | ntree   | int   | -      | - | participants | its island
nisland        |         | int   | -      | - | participants | islands: trees joined by contacts and ties, or all that take part
island_start   | ntree+1 | int   | -      | - | participants | participating trees of an island
island_contact_start | ntree+1 | int | -  | - | participants | contacts of an island
island_contact | ccontact | int  | -      | - | participants | those contacts, ascending
island_item_start | ntree+1 | int | -     | - | participants | items of ties of an island
island_item    | nitem   | int   | -      | - | participants | those items, ascending
island_active_start | ntree+1 | int | -   | - | participants | active scalar constraint rows of an island
island_sums    | ntree   | int   | -      | - | participants | partial sums over these: the largest of their numbers, at most 32
tree_part      | ntree   | int   | -      | - | participants | place among them, island by island, -1 = not
part_tree      | ntree   | int   | -      | - | participants | the tree
part_start     | ntree+1 | int   | -      | - | participants | contact sides of a participating tree
part_side      | cside   | int   | -      | - | participants | 2 contact + side, in order of the contacts
nactive        |         | int   | -      | - | participants | active scalar constraint rows
active_constraint | nscalar | int | -     | - | participants | those rows by island, ascending
v_next         | ndof    | wide.real  | m/s, rad/s | - | newton  | velocity at the end of the step
v_next_b       | nblock  | wide.vec3@v_next | m/s, rad/s | - | newton | v_next in blocks
vc             | citem   | wide.vec3 | m/s    | C | newton      | contact velocity
dvc            | citem   | wide.vec3 | m/s    | C | newton      | its change along the search direction
gamma          | citem   | wide.vec3 | N s    | C | newton      | impulse on B
G              | citem   | mat33 | kg    | C | newton      | Hessian of the contact's cost
constraint_vc  | nscalar | wide.real | m/s, rad/s | - | newton | velocity of an active row
constraint_dvc | nscalar | wide.real | m/s, rad/s | - | newton | its change along the search direction
constraint_gamma | nconstraint | wide.real | N s, N m s | - | newton | impulse of a row, zero where it is not active
constraint_G   | nscalar | real | A | - | newton   | second derivative of an active row's cost
reaction       | nreaction | vec6 | N m, N | L at Lo | reactions | what the joint of a link puts on it, in steps that end in a row
grad           | nblock  | wide.vec3  | N s, N m s | - | newton  | A (v - v_star) - J' gamma
momentum       | nblock  | wide.vec3  | N s, N m s | - | newton  | A (v - v_star)
Av_star        | nblock  | vec3  | N s, N m s | - | newton  | A v_star
Adv            | nblock  | wide.vec3  | N s, N m s | - | newton  | A dv
dv             | nblock  | vec3  | m/s, rad/s | - | newton  | search direction
part_sum       | ntree   | wide.vec4  | J      | - | newton      | partial sums of the trees
lane_sum       | nsum    | wide.vec3  | J      | - | newton      | partial sums of contacts and constraints, 32 of them
edge           | nedge   | uint64 | -     | - | newton      | elimination graph, a row of bits to a tree
part_degree    | ntree   | int   | -      | - | newton      | neighbours that are left; then the next free place of a column
part_order     | ntree   | int   | -      | - | newton      | elimination order
part_rank      | ntree   | int   | -      | - | newton      | place in it
column_start   | ntree+1 | int   | -      | - | newton      | trees with rows below the diagonal of an elimination column
column_part    | chess   | int   | -      | - | newton      | those trees, in elimination order
column_row     | chess   | int   | -      | - | newton      | first of the tree's rows in row_block
row_start      | ntree+1 | int   | -      | - | newton      | 3x3 block rows below the diagonal tree of a column; of packed blocks the first row of a tree
row_block      | chess   | int   | -      | - | newton      | their blocks of degrees of freedom, in elimination order; those of all rows of packed blocks
row_at         | nblock  | int   | -      | - | newton      | place of a block row in the column at work, or in packed blocks
left_start     | ntree+1 | int   | -      | - | newton      | earlier columns with rows of a tree
left_column    | chess   | int   | -      | - | newton      | those columns, in elimination order
left_row       | chess   | int   | -      | - | newton      | first of the tree's rows there, in row_block
column_base    | ntree   | int   | -      | - | newton      | first block of a column, or of a tree's packed blocks, in H
contact_cross  | citem   | vec2i | -      | - | newton      | side whose tree is eliminated first; first row of the other's tree in row_block
H              | chess   | mat33 | A      | - | newton      | Hessian blocks, then their Cholesky factor: in columns of elimination, or packed lower (linalg/packed_cholesky.py)
H_inv          | nblock  | mat33 | A^-0.5 | - | newton      | inverses of the factor's diagonal blocks
cg_residual    | nblock  | vec3  | N s, N m s | - | newton  | -grad - H dv, of a solve by conjugate gradients
cg_scaled      | nblock  | vec3  | m/s, rad/s | - | newton  | that times the inverse of the preconditioner
cg_direction   | nblock  | vec3  | m/s, rad/s | - | newton  | its search direction
forcing        |         | wide.vec2 | -, J^0.5 | - | newton    | forcing term of the solve before, and the residual that it had
solve_int      | nsolve_int | int | -   | - | newton      | status bits; 1 optimality reached + 2 cost reached; Newton and line-search iterations; [6], [7]: iterations of linear solves, of an island and the most
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
rec_energy         | crow       | vec3   | J | - | record_energy | kinetic, potential, elastic energy; where the scene records them
rec_constraint     | crow nconstraint | real | N s, N m s | - | record_state | impulses of constraint rows
rec_reaction       | crow nreaction | vec6 | N m, N | L at Lo | record_state | torque and force of a joint on its child link
rec_a              | crow ccontact | int | - | - | record_contacts | first shape of a contact
rec_b              | crow ccontact | int | - | - | record_contacts | second shape
rec_part           | crow ccontact | int | - | - | record_contacts | facet of a surface, -1 = none
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
vdot_b         | nblock  | vec3@vdot | m/s^2, rad/s^2 | - | aba | vdot in blocks
dA_T           | nbody   | vec6  | rad/s^2, m/s^2 | W at T | inverse | what joint accelerations add to a body's acceleration
tau_motion     | ndof    | real  | N, N m | - | inverse     | generalized force that the motion needs beside applied forces; given to `aba`
tau_motion_b   | nblock  | vec3@tau_motion | N, N m | - | inverse | tau_motion in blocks
IA_ww          | nbody   | mat33 | kg m^2 | W at T | aba    | articulated inertia, angular block
IA_wv          | nbody   | mat33 | kg m   | W at T | aba    | its coupling block, angular rows
IA_vv          | nbody   | mat33 | kg     | W at T | aba    | its linear block
U_T            | ndof    | vec6  | kg, kg m, kg m^2 | W at T | aba | articulated inertia times S
pivot          | ndof    | vec2  | 1/A, N, N m | - | aba     | 1 / (S' IA S + armature), and the force left for the degree of freedom
"""

FIELDS: dict[str, Field] = {
    f.name: f
    for f in (
        _rows("topology", _TOPOLOGY + MESH_TOPOLOGY)
        + _rows("model", _MODEL + MESH_MODEL)
        + _rows("data", _DATA)
        + _rows("record", _RECORD)
        + _rows("dynamics", _DYNAMICS)
    )
}
