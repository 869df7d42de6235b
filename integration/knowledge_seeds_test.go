package integration

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyroute/keyroute/discovery"
	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
)

// seeds is an option for a plugin.
func seeds(list ...string) func(*middleware.Options) {
	return func(o *middleware.Options) { o.Seeds = list }
}

func TestTheBaseEndpointIsTheSeedWhenNoneIsGiven(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, nodes(3))
	createTable(t, c, "items", "pk", "S")
	p := newPlugin(t, c, seeds(), mode(middleware.AnyWrite))
	if got := p.Nodes(); len(got) != 0 {
		t.Errorf("nodes %v are known before there is a client", got)
	}
	client := c.Client(func(o *dynamodb.Options) { o.BaseEndpoint = aws.String(c.Node(2).URL() + "/") }, p.Attach)
	in := batch(writes{"items": newVoter(t, c).puts(1)})
	send(t, client, in)
	eventually(t, "all nodes are known", func() bool { return len(p.Nodes()) == 3 })
	eventually(t, "a write goes where it prefers to", func() bool {
		return send(t, client, in).Coordinator == c.Node(1).URL()
	})

	// The options of a call come too late for that, and do not matter.
	send(t, client, in, func(o *dynamodb.Options) { o.BaseEndpoint = aws.String("http://127.0.0.99:1") })
	wantKnown(t, c, p, 0, 1, 2)
}

func TestSeedsThatAreWrong(t *testing.T) {
	t.Parallel()
	const good = "http://127.0.0.1:8000"
	for name, test := range map[string]struct {
		seeds []string
		want  string // in the error
	}{
		"path":                        {[]string{good, "http://10.0.0.2:8000/alternator"}, "http://10.0.0.2:8000/alternator"},
		"query":                       {[]string{"http://10.0.0.2:8000?dc=dc1"}, "http://10.0.0.2:8000?dc=dc1"},
		"fragment":                    {[]string{"http://10.0.0.2:8000#a"}, "http://10.0.0.2:8000#a"},
		"user":                        {[]string{good, "http://admin@10.0.0.2:8000"}, "admin@10.0.0.2:8000"},
		"user and password":           {[]string{"http://admin:hunter2@10.0.0.2:8000"}, "10.0.0.2:8000"},
		"password and unknown scheme": {[]string{"ftp://admin:hunter2@10.0.0.2:8000"}, "10.0.0.2:8000"},
		"password and bad port":       {[]string{"http://admin:hunter2@10.0.0.2:x"}, "10.0.0.2"},
		"unknown scheme":              {[]string{"tcp://10.0.0.2:8000"}, "tcp://10.0.0.2:8000"},
		"no scheme":                   {[]string{good, "10.0.0.2:8000"}, "10.0.0.2:8000"},
		"no host":                     {[]string{"http://:8000"}, "http://:8000"},
		"empty":                       {[]string{good, ""}, `""`},
		"port":                        {[]string{"http://10.0.0.2:80000"}, "http://10.0.0.2:80000"},
		"IPv6 without brackets":       {[]string{"http://2001:db8::2:8000"}, "http://2001:db8::2:8000"},
		"differing schemes":           {[]string{good, "http://10.0.0.2:8000", "https://10.0.0.3:8000"}, "https://10.0.0.3:8000"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := middleware.New(seeds(test.seeds...))
			if err == nil {
				closePlugin(t, p)
				t.Fatalf("the seeds %q were taken", test.seeds)
			}
			if !strings.HasPrefix(err.Error(), "keyroute: ") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want it to name %s", err, test.want)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error tells the password: %v", err)
			}
		})
	}
}

// Seeds may be written in many ways; what they mean is one node.
func TestSpellingsOfSeeds(t *testing.T) {
	t.Parallel()
	p, err := middleware.New(seeds("HTTP://Node-1.Example:80/", "http://node-1.example", "http://10.0.0.1:8000", "http://[2001:DB8::1]:8000"))
	if err != nil {
		t.Fatal(err)
	}
	defer closePlugin(t, p)
	var got []string
	for _, status := range p.Nodes() {
		got = append(got, status.Endpoint)
	}
	const want = "http://10.0.0.1:8000 http://[2001:db8::1]:8000 http://node-1.example"
	if strings.Join(got, " ") != want {
		t.Errorf("the seeds are the nodes %v, want %v", got, want)
	}
}

// A name that stands for whichever node is alive, as load balancers and
// Kubernetes have them, is resolved again for each connection.
func TestTheNameOfASeedIsResolvedAgain(t *testing.T) {
	t.Parallel()
	for name, scoped := range map[string]discovery.Scope{
		"datacenter": discovery.Datacenter("dc1"),
		"cluster":    discovery.Cluster(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := cluster.New(t, nodes(2))
			createTable(t, c, "items", "pk", "S")
			// A cluster that was replaced: neither node knows the other.
			for i := range 2 {
				c.Node(i).SetListed([]string{c.Node(i).Address()})
			}
			names := newSwitchboard(c)
			names.name("seed.example", 0)
			p := newPlugin(t, c, mode(middleware.AnyWrite), keys("items", "pk"), scope(scoped),
				seeds("http://seed.example:"+portOf(c)))
			client := attach(t, c, p, names.option)
			wantKnown(t, c, p, 0)
			in := batch(writes{"items": {put(item{"pk": str("a")})}})
			wantVote(t, c, client, in, 0)

			names.name("seed.example", 1)
			c.Node(0).Refuse()
			for range 10 {
				send(t, client, in)
			}
			eventually(t, "the node of the name is known", func() bool { return slices.Equal(known(c, p), []int{1}) })
			wantVote(t, c, client, in, 1)
		})
	}
}

func TestPluginsOfTwoClustersDoNotMix(t *testing.T) {
	t.Parallel()
	type side struct {
		cluster *cluster.Cluster
		plugin  *middleware.Plugin
		client  *dynamodb.Client
		key     string
	}
	var sides [2]side
	for i, key := range []string{"pk", "id"} {
		c := cluster.New(t, nodes(2+i), func(o *cluster.Options) {
			o.VerifySignatures = true
			o.Credentials = aws.Credentials{AccessKeyID: "user-" + key, SecretAccessKey: "secret-" + key}
		})
		createTable(t, c, "items", key, "S")
		p := newPlugin(t, c, mode(middleware.AnyWrite), brisk)
		sides[i] = side{c, p, attach(t, c, p), key}
	}
	for i := range 40 {
		for _, s := range sides {
			key := str(string(rune('a' + i)))
			in := batch(writes{"items": {put(item{s.key: key})}})
			eventuallyVotes(t, s.client, in)
			wantVote(t, s.cluster, s.client, in, preferred(t, s.cluster, key))
		}
	}
	for i, s := range sides {
		wantKnown(t, s.cluster, s.plugin, []int{0, 1, 2}[:2+i]...)
		wantCount(t, s.cluster, "DescribeTable", 1)
		out, err := s.client.Scan(context.Background(), &dynamodb.ScanInput{TableName: aws.String("items")})
		if err != nil || len(out.Items) != 40 {
			t.Errorf("cluster %d has %d items, want 40; %v", i, len(out.Items), err)
		}
	}
}
