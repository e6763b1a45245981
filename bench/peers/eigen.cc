// eigen.cc - Eigen's row-major sparse times dense, on the arrays in place.
//
// Compiled like the plain loop; Eigen splits the rows over OpenMP's threads
// by itself when there is enough to do.
#include <Eigen/Core>
#include <Eigen/SparseCore>

#include "peers.h"

namespace
{

struct product {
    virtual void run() = 0;
    virtual ~product() = default;
};

template <class T> class spmv : public product
{
    using vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
    Eigen::Map<const Eigen::SparseMatrix<T, Eigen::RowMajor, int>> A;
    Eigen::Map<const vector> x;
    Eigen::Map<vector> y;

  public:
    explicit spmv(const bench_operands *o)
        : A(o->rows, o->cols, o->nnz, o->start, o->col,
            static_cast<const T *>(o->val)),
          x(static_cast<const T *>(o->B), o->cols),
          y(static_cast<T *>(o->C), o->rows)
    {
    }

    void run() override { y.noalias() = A * x; }
};

template <class T> class spmm : public product
{
    using dense =
        Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    Eigen::Map<const Eigen::SparseMatrix<T, Eigen::RowMajor, int>> A;
    Eigen::Map<const dense> B;
    Eigen::Map<dense> C;

  public:
    explicit spmm(const bench_operands *o)
        : A(o->rows, o->cols, o->nnz, o->start, o->col,
            static_cast<const T *>(o->val)),
          B(static_cast<const T *>(o->B), o->cols, o->c.n),
          C(static_cast<T *>(o->C), o->rows, o->c.n)
    {
    }

    void run() override { C.noalias() = A * B; }
};

template <class T> product *make(const bench_operands *o)
{
    if (o->c.op == SPRY_SPMV)
        return new spmv<T>(o);
    return new spmm<T>(o);
}

void *open_eigen(const bench_operands *o, char *)
{
    Eigen::setNbThreads(o->c.threads);
    return o->c.type == SPRY_F32 ? make<float>(o) : make<double>(o);
}

void run_eigen(void *handle)
{
    static_cast<product *>(handle)->run();
}

void close_eigen(void *handle)
{
    delete static_cast<product *>(handle);
}

#define TEXT(x)         #x
#define DOTTED(a, b, c) TEXT(a) "." TEXT(b) "." TEXT(c)

const char *version()
{
    return DOTTED(EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION,
                  EIGEN_MINOR_VERSION);
}

} // namespace

const bench_peer bench_eigen = {"eigen",
                                BENCH_SPMV | BENCH_SPMM,
                                BENCH_F32 | BENCH_F64,
                                1,
                                0,
                                version,
                                open_eigen,
                                run_eigen,
                                nullptr,
                                close_eigen};
