/* cgroup_test.c - quotas and limits of both versions, from trees as Linux shows them. */
#include "tests/kernels/fake_root.h"

#include "kernels/cgroup.h"
#include "kernels/cpu.h"

static void without_groups_there_is_no_limit(void **state) {
    (void)state;
    assert_int_equal(fo_cgroup_cpus(root), 0);
    assert_true(fo_cgroup_memory(root) == UINT64_MAX);
    put("proc/self/cgroup", "0::/\n");
    assert_int_equal(fo_cgroup_cpus(root), 0);
    put("sys/fs/cgroup/cpu.max", "max 100000\n");
    put("sys/fs/cgroup/memory.max", "max\n");
    put("sys/fs/cgroup/memory.current", "12345\n");
    assert_int_equal(fo_cgroup_cpus(root), 0);
    assert_true(fo_cgroup_memory(root) == UINT64_MAX);
}

static void a_container_of_version_2_sees_its_own_group_as_the_root(void **state) {
    (void)state;
    put("proc/self/cgroup", "0::/\n");
    put("sys/fs/cgroup/cpu.max", "250000 100000\n");
    put("sys/fs/cgroup/memory.max", "1000000\n");
    put("sys/fs/cgroup/memory.current", "600000\n");
    assert_int_equal(fo_cgroup_cpus(root), 3); /* 2.5 */
    assert_int_equal(fo_cgroup_memory(root), 400000);
    put("sys/fs/cgroup/memory.stat",
        "anon 100000\nfile 400000\ninactive_file 300000\nactive_file 50000\n");
    assert_int_equal(fo_cgroup_memory(root), 750000);
    put("sys/fs/cgroup/memory.current", "2000000\n");
    assert_int_equal(fo_cgroup_memory(root), 0);
    put("sys/fs/cgroup/cpu.max", "1000 100000\n");
    assert_int_equal(fo_cgroup_cpus(root), 1);
}

static void the_smallest_of_the_groups_above_counts(void **state) {
    (void)state;
    put("proc/self/cgroup", "0::/system.slice/forage.service/part\n");
    put("sys/fs/cgroup/system.slice/cpu.max", "400000 100000\n");
    put("sys/fs/cgroup/system.slice/forage.service/cpu.max", "800000 100000\n");
    put("sys/fs/cgroup/system.slice/forage.service/part/cpu.max", "max 100000\n");
    put("sys/fs/cgroup/system.slice/other.service/cpu.max", "100000 100000\n");
    assert_int_equal(fo_cgroup_cpus(root), 4);
    put("sys/fs/cgroup/cpu.max", "200000 100000\n");
    assert_int_equal(fo_cgroup_cpus(root), 2);
}

static void version_1_has_a_tree_for_each_controller(void **state) {
    (void)state;
    put("proc/self/cgroup", "9:name=systemd:/user\n5:cpuset:/a\n4:memory:/docker/abc\n"
                            "3:cpu,cpuacct:/docker/abc\n");
    put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
    put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put("sys/fs/cgroup/memory/memory.usage_in_bytes", "5000\n");
    assert_int_equal(fo_cgroup_cpus(root), 0);
    assert_true(fo_cgroup_memory(root) == UINT64_MAX);
    put("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "150000\n");
    put("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_period_us", "50000\n");
    put("sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "8000\n");
    put("sys/fs/cgroup/memory/docker/abc/memory.usage_in_bytes", "5000\n");
    put("sys/fs/cgroup/memory/docker/abc/memory.stat",
        "inactive_file 1\ntotal_inactive_file 1000\n");
    assert_int_equal(fo_cgroup_cpus(root), 3);
    assert_int_equal(fo_cgroup_memory(root), 4000);
}

/* Docker with version 1: the path is the host's, the mount is the container's own group. */
static void a_path_that_is_not_mounted_here_leaves_the_mounts_root(void **state) {
    (void)state;
    put("proc/self/cgroup", "3:cpu:/docker/abc\n2:cpuacct:/docker/abc\n");
    put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000\n");
    put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    assert_int_equal(fo_cgroup_cpus(root), 2);
    put("proc/self/cgroup", "3:cpu:/../../abc\n");
    assert_int_equal(fo_cgroup_cpus(root), 2);
}

static void both_versions_side_by_side(void **state) {
    (void)state;
    put("proc/self/cgroup", "2:cpu:/a\n0::/b/c\n");
    put("sys/fs/cgroup/unified/b/cpu.max", "500000 100000\n");
    put("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "600000\n");
    put("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
    assert_int_equal(fo_cgroup_cpus(root), 5);
}

static void nonsense_is_no_limit(void **state) {
    (void)state;
    static const char *const lines[] = {"", ":", "::", "0::", "0:cpu", "x\n", "0::/\n1:cpu:\n"};
    static const char *const files[] = {
        "", "max", "-5 100", "100 0", "0 100", "a b", "99999999999999999999999 1"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        for (size_t j = 0; j < sizeof files / sizeof *files; j++) {
            put("proc/self/cgroup", lines[i]);
            put("sys/fs/cgroup/cpu.max", files[j]);
            put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", files[j]);
            assert_int_equal(fo_cgroup_cpus(root), 0);
        }
    char *deep = malloc(6000); /* a path longer than any */
    memset(deep, 'a', 6000);
    for (int i = 3; i < 5999; i += 20) deep[i] = '/';
    memcpy(deep, "0::/", 4);
    deep[5999] = 0;
    put("proc/self/cgroup", deep);
    assert_int_equal(fo_cgroup_cpus(root), 0);
    free(deep);
}

static void this_process_has_a_processor(void **state) {
    (void)state;
    const int n = fo_cpu_count(), quota = fo_cgroup_cpus("");
    assert_true(n >= 1);
    assert_true(!quota || n <= quota);
    assert_true(fo_cgroup_memory("") > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_groups_there_is_no_limit, begin, end),
        cmocka_unit_test_setup_teardown(a_container_of_version_2_sees_its_own_group_as_the_root,
                                        begin, end),
        cmocka_unit_test_setup_teardown(the_smallest_of_the_groups_above_counts, begin, end),
        cmocka_unit_test_setup_teardown(version_1_has_a_tree_for_each_controller, begin, end),
        cmocka_unit_test_setup_teardown(a_path_that_is_not_mounted_here_leaves_the_mounts_root,
                                        begin, end),
        cmocka_unit_test_setup_teardown(both_versions_side_by_side, begin, end),
        cmocka_unit_test_setup_teardown(nonsense_is_no_limit, begin, end),
        cmocka_unit_test(this_process_has_a_processor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
