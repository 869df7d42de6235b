// Package live tests the plugin on a cluster that is taken as it is: the
// embedded one by default, or a real one.
//
//	KEYROUTE_TEST_SEEDS          URLs of nodes, separated by commas
//	KEYROUTE_TEST_KEY_ID         access key, if the cluster checks signatures
//	KEYROUTE_TEST_SECRET         its secret
//	KEYROUTE_TEST_DATACENTER     a datacenter of the cluster; "datacenter1" by default
//
// The tests are the same on both: no test asks which one it has. On a real one
// they need an account that may make tables and drop them. Their tables are
// named keyroute_test_ and something random, and are dropped at the end; each
// has its write isolation set, so that the cluster's own does not matter. For
// certificates that the system does not know there is Go's own SSL_CERT_FILE.
//
//	make test-cluster KEYROUTE_TEST_SEEDS=http://10.0.0.1:8000,http://10.0.0.2:8000
//
// Tests that make nodes refuse connections, hang, lose packets, answer rubbish,
// leave or come back are in the parent package and on the embedded cluster
// only. They do to a node what no client can do to a real one, to one node at a
// time and at a point of a request, and they count what each node received.
//
// For want of a real cluster, the authors could only run these tests on the
// embedded one, both started by the tests and, for the way that a real one
// takes, as a process of its own:
//
//	make cluster
//	make test-cluster KEYROUTE_TEST_SEEDS=http://127.0.0.1:8000 KEYROUTE_TEST_DATACENTER=dc1
package live
