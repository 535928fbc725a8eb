#include <map>
namespace fen {

// Counts herons.
class Counter : public Base {
public:
    explicit Counter(int n) : n_(n) {}
    int count() const
    {
        if (n_ > 3) {
            return 3;
        }

        return n_;
    }
private:
    int n_;
};

std::map<int, int> Counter::table(const std::string &s,
                                  int k) {
    return {};
}
template <typename T> T twice(T x) { return x + x; }
static const int primes[] = {
    2, 3,
    5,
};
}  // namespace fen
