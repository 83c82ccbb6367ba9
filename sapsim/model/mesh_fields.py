"""The device arrays of convex hulls (model/hulls.py) and surfaces (model/surfaces.py), in the columns of fields.py."""

MESH_TOPOLOGY = """\
hull_vertex_start | nhull+1  | int | -  | - | build | vertices of a convex hull
hull_face_start   | nhull+1  | int | -  | - | build | its faces
hull_corner_start | nhullface+1 | int | - | - | build | corners of a face, anticlockwise about its normal
hull_corner       | nhullcorner | int | - | - | build | vertex of a corner, numbered within the hull
hull_edge         | nhullcorner | int | - | - | build | edge from it to the next corner, numbered within the hull
hull_cell         | nhull   | int   | -  | - | build | first cell of directions of a large hull, -1: it has none
hull_candidate_start | nhullcell+1 | int | - | - | build | vertices that can reach farthest along a direction in a cell
hull_candidate    | nhullcandidate | int | - | - | build | those vertices, ascending, numbered among all
hull_vertex_face_start | nhullvertex+1 | int | - | - | build | faces that hold a vertex, or nearly
hull_vertex_face  | nhullvertexface | int | - | - | build | those faces, ascending, numbered among all
shape_mesh        | nshape   | int | -  | - | build | surface of the shape (model/surfaces.py), -1 = none
surface_node      | nmesh+1  | int | -  | - | build | nodes of a surface's tree of boxes, depth first
node_tri         | nnode    | int | -  | - | build | first triangle ("part") of a leaf, -1 of other nodes
node_tri_end     | nnode    | int | -  | - | build | the one after its last
node_next         | nnode    | int | -  | - | build | where a walk goes on that misses the node's box, counted from all nodes' start
tri_corner       | ntri3   | int | -  | - | build | vertices of a part's three corners, anticlockwise from the side from which it is touched
tri_side         | ntri3   | int | -  | - | build | number of the side from a corner to the next, the same for both parts that have it
tri_beside       | ntri3   | int | -  | - | build | the part at the other side of it, -1 = none
tri_bits         | ntri     | int | -  | - | build | bit k: its facet ends at side k; 3 + k: the facet's border turns at corner k; 6: a side is a ridge or an end
tri_facet        | ntri     | int | -  | - | build | first part of its facet: coplanar neighbours
ring_start        | ntrivertex+1 | int | - | - | build | vertices that share a side with a vertex
ring              | nring    | int | -  | - | build | those vertices, ascending
"""

MESH_MODEL = """\
hull_vertex    | nhullvertex | vec3 | m    | G  | build | vertices of convex hulls
hull_normal    | nhullface | vec3  | -       | G  | build | outward normals of their faces
tri_vertex    | ntrivertex | vec3 | m     | G  | build | vertices of surfaces
tri_plane     | ntri    | vec4  | -, m     | G  | build | normal of the part's facet, and how far the part's first corner lies above its plane
node_low       | nnode   | vec3  | m       | G  | build | box of a node
node_high      | nnode   | vec3  | m       | G  | build | the same
"""
