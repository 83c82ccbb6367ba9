// Loops over states around Pinocchio's algorithms, for dynamics_ratio.py: everything from its headers, one thread.
#include <pinocchio/multibody.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/cholesky.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>

namespace pin = pinocchio;

struct Mechanism {
  pin::Model model;
  pin::Data data;
};

// The joint of a body: floating, or about or along an axis; the axes of the frame have joints of their own, which are faster.
static pin::JointModel joint(int kind, const double *a) {
  const Eigen::Vector3d axis(a[0], a[1], a[2]);
  if (kind == 0)
    return pin::JointModelFreeFlyer();
  if (kind == 1) {
    if (axis == Eigen::Vector3d::UnitX()) return pin::JointModelRX();
    if (axis == Eigen::Vector3d::UnitY()) return pin::JointModelRY();
    if (axis == Eigen::Vector3d::UnitZ()) return pin::JointModelRZ();
    return pin::JointModelRevoluteUnaligned(axis);
  }
  if (axis == Eigen::Vector3d::UnitX()) return pin::JointModelPX();
  if (axis == Eigen::Vector3d::UnitY()) return pin::JointModelPY();
  if (axis == Eigen::Vector3d::UnitZ()) return pin::JointModelPZ();
  return pin::JointModelPrismaticUnaligned(axis);
}

// Bodies with parents before children: parent (-1: world), kind (0 floating, 1 revolute, 2 prismatic), axis, placement of the
// joint on the parent (R by rows, then p), mass, mass centre, inertia about it by rows.  Gravity is (0, 0, -9.81).
extern "C" Mechanism *make(int nbody, const int *parent, const int *kind, const double *axis, const double *placement,
                           const double *mass, const double *com, const double *inertia, const double *armature) {
  using Matrix = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;
  auto *m = new Mechanism;
  for (int b = 0; b < nbody; ++b) {
    const pin::SE3 X(Eigen::Map<const Matrix>(placement + 12 * b), Eigen::Map<const Eigen::Vector3d>(placement + 12 * b + 9));
    const auto id = m->model.addJoint(parent[b] + 1, joint(kind[b], axis + 3 * b), X, "body" + std::to_string(b));
    const Eigen::Matrix3d I = Eigen::Map<const Matrix>(inertia + 9 * b);
    m->model.appendBodyToJoint(id, pin::Inertia(mass[b], Eigen::Map<const Eigen::Vector3d>(com + 3 * b), I));
  }
  m->model.armature = Eigen::Map<const Eigen::VectorXd>(armature, m->model.nv);
  m->data = pin::Data(m->model);
  return m;
}

// One algorithm on n states; `last` receives the result of the last one: nv, or nv x nv by columns.
extern "C" void run(Mechanism *m, const char *what, int world_frame, int n, const double *q, const double *v, const double *x,
                    double *last) {
  const std::string name(what);
  const auto convention = world_frame ? pin::Convention::WORLD : pin::Convention::LOCAL;
  const int nq = m->model.nq, nv = m->model.nv;
  auto state = [](const double *rows, int size, int i) { return Eigen::Map<const Eigen::VectorXd>(rows + size * i, size); };
  auto each = [&](auto f) { for (int i = 0; i < n; ++i) f(i); };
  if (name == "rnea") {
    each([&](int i) { pin::rnea(m->model, m->data, state(q, nq, i), state(v, nv, i), state(x, nv, i)); });
    Eigen::Map<Eigen::VectorXd>(last, nv) = m->data.tau;
  } else if (name == "aba") {
    each([&](int i) { pin::aba(m->model, m->data, state(q, nq, i), state(v, nv, i), state(x, nv, i), convention); });
    Eigen::Map<Eigen::VectorXd>(last, nv) = m->data.ddq;
  } else if (name == "crba") {
    each([&](int i) { pin::crba(m->model, m->data, state(q, nq, i), convention); });
    Eigen::Map<Eigen::MatrixXd>(last, nv, nv) = m->data.M;
  } else {  // of the mass matrix of the last crba
    each([&](int i) { pin::cholesky::decompose(m->model, m->data); });
    Eigen::Map<Eigen::VectorXd>(last, nv) = m->data.D;
  }
}
