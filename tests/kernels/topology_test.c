/* topology_test.c - cores and nodes of machines of many kinds, from trees as Linux shows them. */
#include "tests/kernels/fake_root.h"

#include "kernels/cpu.h"
#include "kernels/topology.h"

static void put_siblings(int cpu, const char *list) {
    char name[80];
    snprintf(name, sizeof name, "sys/devices/system/cpu/cpu%d/topology/core_cpus_list", cpu);
    put(name, list);
}

/* n cores of two processors, the second one `apart` higher. */
static void put_cores(int n, int apart) {
    for (int k = 0; k < n; k++) {
        const int i = apart == 1 ? 2 * k : k;
        char list[40];
        snprintf(list, sizeof list, apart == 1 ? "%d-%d\n" : "%d,%d\n", i, i + apart);
        put_siblings(i, list);
        put_siblings(i + apart, list);
    }
}

static void put_node(int node, const char *list) {
    char name[80];
    snprintf(name, sizeof name, "sys/devices/system/node/node%d/cpulist", node);
    put(name, list);
}

static fo_cpus cpus_of(const char *list) {
    fo_cpus s = {{0}};
    assert_true(fo_cpus_parse(&s, list, strlen(list)));
    return s;
}

static void read_with(fo_topology *t, const char *allowed) {
    const fo_cpus s = cpus_of(allowed);
    fo_topology_read(t, root, &s);
    assert_int_equal(t->n_cpus, fo_cpus_count(&s));
    /* Each processor in one node, and nothing else; cores add up. */
    int n_cpus = 0, n_cores = 0;
    for (int n = 0; n < t->n_nodes; n++) {
        n_cpus += fo_cpus_count(&t->cpus[n]);
        n_cores += t->n_cores_of[n];
        for (int i = 0; i < FO_CPUS; i++)
            if (fo_cpus_has(&t->cpus[n], i)) assert_true(fo_cpus_has(&s, i));
    }
    assert_int_equal(n_cpus, t->n_cpus);
    assert_int_equal(n_cores, t->n_cores);
    assert_true(t->n_nodes >= 1 && t->n_nodes <= FO_NODES && t->n_cores <= t->n_cpus);
}

static void assert_shape(const fo_topology *t, int cores, int nodes) {
    assert_int_equal(t->n_cores, cores);
    assert_int_equal(t->n_nodes, nodes);
}

static void assert_node(const fo_topology *t, int index, int number, int cores, const char *list) {
    const fo_cpus want = cpus_of(list);
    assert_int_equal(t->number[index], number);
    assert_int_equal(t->n_cores_of[index], cores);
    assert_memory_equal(&t->cpus[index], &want, sizeof want);
}

static fo_topology t;

static void lists_are_read_as_linux_writes_them(void **state) {
    (void)state;
    fo_cpus s = cpus_of("0-3,8,10-11\n");
    assert_int_equal(fo_cpus_count(&s), 7);
    assert_true(fo_cpus_has(&s, 3) && fo_cpus_has(&s, 8) && fo_cpus_has(&s, 11));
    assert_false(fo_cpus_has(&s, 4) || fo_cpus_has(&s, 9));
    s = cpus_of("\n"); /* a node without processors */
    assert_int_equal(fo_cpus_count(&s), 0);
    s = cpus_of("8190-99999999999999999999,123456");
    assert_int_equal(fo_cpus_count(&s), 2);
    static const char *const bad[] = {"-",   "1-",   "3-1",  ",",     "1,",   "1,,2", "a",
                                      "1 2", "0x3f", "1-2-", "1-2-3", "-1-3", "1\n2", "+1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        fo_cpus before = cpus_of("5");
        assert_false(fo_cpus_parse(&before, bad[i], strlen(bad[i])));
        assert_true(fo_cpus_has(&before, 5) && fo_cpus_count(&before) == 1);
    }
    assert_false(fo_cpus_parse(&s, "1\0002", 3));
}

static void without_files_every_processor_is_a_core_of_one_node(void **state) {
    (void)state;
    read_with(&t, "0-5");
    assert_shape(&t, 6, 1);
    assert_node(&t, 0, 0, 6, "0-5");
    fo_topology_read(&t, "/nowhere/at/all", NULL);
    assert_true(t.n_cpus >= 1 && t.n_cores == t.n_cpus && t.n_nodes == 1);
    char *deep = malloc(6000); /* a path longer than any */
    memset(deep, 'a', 5999);
    deep[5999] = 0;
    fo_topology_read(&t, deep, NULL);
    assert_int_equal(t.n_nodes, 1);
    free(deep);
    read_with(&t, ""); /* cannot be, but must not hurt */
    assert_shape(&t, 0, 1);
    assert_int_equal(fo_topology_node(&t, 3, 4), 0);
}

/* Zen: core i is processors i and i + 8; Intel's desktops: 2i and 2i + 1, then cores of one. */
static void siblings_are_counted_once(void **state) {
    (void)state;
    put("sys/devices/system/node/online", "0\n");
    put_node(0, "0-15\n");
    put_cores(8, 8);
    read_with(&t, "0-15");
    assert_shape(&t, 8, 1);
    read_with(&t, "0-3,8-11");
    assert_shape(&t, 4, 1);
    read_with(&t, "0-3,12-15"); /* siblings of others: a core each */
    assert_shape(&t, 8, 1);
    put_cores(4, 1);
    for (int i = 8; i < 16; i++) {
        char list[8];
        snprintf(list, sizeof list, "%d\n", i);
        put_siblings(i, list);
    }
    read_with(&t, "0-15");
    assert_shape(&t, 12, 1);
    read_with(&t, "1,3,9");
    assert_shape(&t, 3, 1);
}

static void the_old_name_of_siblings_is_known(void **state) {
    (void)state;
    put("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0-1\n");
    put("sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "0-1\n");
    read_with(&t, "0-1");
    assert_shape(&t, 1, 1);
}

/* Two EPYC: 0-63 and 128-191 are one, 64-127 and 192-255 the other. */
static void two_sockets(void **state) {
    (void)state;
    put("sys/devices/system/node/online", "0-1\n");
    put_node(0, "0-63,128-191\n");
    put_node(1, "64-127,192-255\n");
    put_cores(128, 128);
    read_with(&t, "0-255");
    assert_shape(&t, 128, 2);
    assert_node(&t, 0, 0, 64, "0-63,128-191");
    assert_node(&t, 1, 1, 64, "64-127,192-255");
    for (int i = 0; i < 128; i++) assert_int_equal(fo_topology_node(&t, i, 128), i / 64);
    for (int i = 0; i < 10; i++) assert_int_equal(fo_topology_node(&t, i, 10), i / 5);
    read_with(&t, "0-15,64-79"); /* a cpuset over both */
    assert_shape(&t, 32, 2);
    assert_node(&t, 1, 1, 16, "64-79");
    read_with(&t, "64-127"); /* numactl --cpunodebind=1 */
    assert_shape(&t, 64, 1);
    assert_node(&t, 0, 1, 64, "64-127");
    read_with(&t, "0-47,64-79"); /* threads where the cores are */
    int there = 0;
    for (int i = 0; i < 32; i++) there += fo_topology_node(&t, i, 32) == 1;
    assert_int_equal(there, 8);
    fo_topology_flatten(&t);
    assert_shape(&t, 64, 1);
    assert_node(&t, 0, 0, 64, "0-47,64-79");
    assert_int_equal(fo_topology_node(&t, 31, 32), 0);
}

/* Sub-NUMA: four nodes a socket. A ninth, and more, are memory alone (CXL). */
static void nodes_within_a_socket_and_nodes_without_processors(void **state) {
    (void)state;
    put("sys/devices/system/node/online", "0-8,12\n");
    for (int i = 0; i < 8; i++) {
        char list[40];
        snprintf(list, sizeof list, "%d-%d\n", 14 * i, 14 * i + 13);
        put_node(i, list);
    }
    put_node(8, "\n");
    put_node(12, "");
    put_cores(56, 1);
    read_with(&t, "0-111");
    assert_shape(&t, 56, 8);
    for (int i = 0; i < 8; i++) assert_int_equal(t.n_cores_of[i], 7);
    for (int i = 0; i < 56; i++) assert_int_equal(fo_topology_node(&t, i, 56), i / 7);
    read_with(&t, "28-41,110-111");
    assert_shape(&t, 8, 2);
    assert_node(&t, 0, 2, 7, "28-41");
    assert_node(&t, 1, 7, 1, "110-111");
}

/* Numbers with holes, nodes as well; what is offline has no topology and stands in no list. */
static void holes_and_what_is_offline(void **state) {
    (void)state;
    put("sys/devices/system/node/online", "1,5\n");
    put_node(1, "2,6,4000\n");
    put_node(5, "17,8191\n");
    put_siblings(2, "2,6\n");
    put_siblings(6, "2,6\n");
    put_siblings(17, "17\n"); /* its sibling is off */
    read_with(&t, "2,6,17,4000,8191");
    assert_shape(&t, 4, 2);
    assert_node(&t, 0, 1, 2, "2,6,4000");
    assert_node(&t, 1, 5, 2, "17,8191");
    put("sys/devices/system/node/online", "1,3,5\n"); /* one that came just now, or goes */
    read_with(&t, "2,6,17,4000,8191");
    assert_shape(&t, 4, 2);
}

static void a_machine_of_one_core(void **state) {
    (void)state;
    put("sys/devices/system/node/online", "0\n");
    put_node(0, "0\n");
    put_siblings(0, "0\n");
    read_with(&t, "0");
    assert_shape(&t, 1, 1);
    assert_int_equal(fo_topology_node(&t, 0, 1), 0);
    assert_int_equal(fo_topology_node(&t, 7, 8), 0);
}

static void nonsense_is_one_node_of_cores(void **state) {
    (void)state;
    char *huge = malloc(200001); /* a list longer than any */
    for (int i = 0; i < 200000; i += 2) memcpy(huge + i, "1,", 2);
    huge[199999] = '1';
    huge[200000] = 0;
    const char *const texts[] = {
        "",     "x",           "0-",  "3-0", "-1", "0-99999999999999999999",
        "0-3;", "\xff\xfe\n0", "1-2", huge,  "0,", "0-3\n0-3\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
            put("sys/devices/system/node/online", texts[i]);
            put_node(0, texts[k]);
            put_node(1, texts[i]);
            for (int c = 0; c < 4; c++) put_siblings(c, texts[k]);
            read_with(&t, "0-3"); /* asserts that nothing is lost */
            if (t.n_nodes == 1) assert_int_equal(t.n_cores_of[0], t.n_cores);
            assert_true(t.n_cores >= 1);
        }
    free(huge);
    char path[4096]; /* a folder in place of a file */
    snprintf(path, sizeof path, "%s/sys/devices/system/node/node2/cpulist", root);
    put("sys/devices/system/node/node2/x", "");
    assert_int_equal(mkdir(path, 0700), 0);
    put("sys/devices/system/node/online", "2\n");
    read_with(&t, "0-3");
    assert_int_equal(t.n_nodes, 1);
}

static void what_cannot_be_is_not_believed(void **state) {
    (void)state;
    put("sys/devices/system/node/online", "0-200\n");
    for (int i = 0; i <= 200; i++) { /* more nodes than are kept */
        char list[8];
        snprintf(list, sizeof list, "%d", i);
        put_node(i, list);
        put_siblings(i, "0-200\n"); /* a core of all */
    }
    read_with(&t, "0-200");
    assert_shape(&t, 201, FO_NODES);
    put("sys/devices/system/node/online", "0-1\n");
    put_node(0, "0-7\n");
    put_node(1, "4-11\n");                                     /* four in both, four in none */
    for (int i = 0; i < 16; i++) put_siblings(i, "100-101\n"); /* others' */
    read_with(&t, "0-15");
    assert_shape(&t, 16, 2);
    assert_node(&t, 0, 0, 12, "0-7,12-15");
    assert_node(&t, 1, 1, 4, "8-11");
}

static void threads_go_to_nodes_in_order_and_in_proportion(void **state) {
    (void)state;
    put("sys/devices/system/node/online", "0-2\n");
    put_node(0, "0-3\n");
    put_node(1, "4-5\n");
    put_node(2, "6-15\n");
    read_with(&t, "0-15");
    for (int n = 1; n <= 64; n++) {
        int count[3] = {0}, before = 0;
        for (int i = 0; i < n; i++) {
            const int node = fo_topology_node(&t, i, n);
            assert_true(node >= before && node < 3);
            count[before = node]++;
        }
        for (int k = 0; k < 3; k++) {
            const double share = (double)n * t.n_cores_of[k] / t.n_cores;
            assert_true(count[k] > share - 1 && count[k] < share + 1);
            if (n <= 16) assert_true(count[k] <= t.n_cores_of[k]);
        }
    }
}

static void this_process_has_a_core_and_a_node(void **state) {
    (void)state;
    const fo_topology *m = fo_cpu_topology();
    assert_true(m->n_nodes >= 1 && m->n_cores >= 1 && m->n_cores <= m->n_cpus);
    assert_true(fo_core_count() >= 1 && fo_core_count() <= fo_cpu_count());
    fo_cpus before, now;
    assert_true(fo_cpus_get_affinity(&before));
    assert_int_equal(fo_cpus_count(&before), m->n_cpus);
    assert_true(fo_cpus_set_affinity(&m->cpus[0]));
    assert_true(fo_cpus_get_affinity(&now));
    assert_memory_equal(&now, &m->cpus[0], sizeof now);
    assert_true(fo_cpus_set_affinity(&before));
    const fo_cpus none = {{0}};
    assert_false(fo_cpus_set_affinity(&none));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_read_as_linux_writes_them),
        cmocka_unit_test_setup_teardown(without_files_every_processor_is_a_core_of_one_node, begin,
                                        end),
        cmocka_unit_test_setup_teardown(siblings_are_counted_once, begin, end),
        cmocka_unit_test_setup_teardown(the_old_name_of_siblings_is_known, begin, end),
        cmocka_unit_test_setup_teardown(two_sockets, begin, end),
        cmocka_unit_test_setup_teardown(nodes_within_a_socket_and_nodes_without_processors, begin,
                                        end),
        cmocka_unit_test_setup_teardown(holes_and_what_is_offline, begin, end),
        cmocka_unit_test_setup_teardown(a_machine_of_one_core, begin, end),
        cmocka_unit_test_setup_teardown(nonsense_is_one_node_of_cores, begin, end),
        cmocka_unit_test_setup_teardown(what_cannot_be_is_not_believed, begin, end),
        cmocka_unit_test_setup_teardown(threads_go_to_nodes_in_order_and_in_proportion, begin, end),
        cmocka_unit_test(this_process_has_a_core_and_a_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
