package middleware

import (
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/keyroute/keyroute/discovery"
	"github.com/keyroute/keyroute/resolver"
)

// conditions are how a test has a node be.
type condition string

const (
	active      condition = "active"
	quarantined condition = "quarantined"
	suspected   condition = "suspected"
	down        condition = "down"
)

// listing is an HTTP client of a cluster that lists these addresses.
type listing []string

func (l listing) Do(*http.Request) (*http.Response, error) {
	body, err := json.Marshal(l)
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(string(body)))}, err
}

// An assembly is the nodes of a cluster of which seeds are known, and a ring
// with none of them if there is one.
type assembly struct {
	t     *testing.T
	nodes *discovery.Nodes
}

// assemble makes nodes that are active: "seed-0", "seed-1", ... and the ring's,
// "node-00", "node-01", ...; without a ring, the seeds are the ring.
func assemble(t *testing.T, seeds, ring int) *assembly {
	t.Helper()
	config := discovery.NodesConfig{Health: discovery.Thresholds{QuarantinePromotion: 1, QuarantineFailures: 2, ActiveFailures: 2}}
	for i := range seeds {
		node, err := resolver.ParseNode("http://seed-" + strconv.Itoa(i) + ":8000")
		if err != nil {
			t.Fatal(err)
		}
		config.Seeds = append(config.Seeds, node)
	}
	nodes, err := discovery.NewNodes(config)
	if err != nil {
		t.Fatal(err)
	}
	if ring > 0 {
		var list listing
		for i := range ring {
			list = append(list, "node-"+pad(i))
		}
		nodes.Start(list)
		err := nodes.Refresh(t.Context())
		if closeErr := nodes.Close(context.Background()); err != nil || closeErr != nil {
			t.Fatal(err, closeErr)
		}
	}
	a := &assembly{t: t, nodes: nodes}
	for _, m := range a.members() {
		nodes.Report(m, discovery.TrafficSuccess, m.Generation())
	}
	return a
}

func pad(i int) string {
	if i < 10 {
		return "0" + strconv.Itoa(i)
	}
	return strconv.Itoa(i)
}

// members are all of them, the ring's first.
func (a *assembly) members() []*discovery.Member {
	v := a.nodes.View()
	var list []*discovery.Member
	for i := range v.Ring.Len() {
		list = append(list, v.Member(i))
	}
	return append(list, v.Seeds()...)
}

// become brings a node that is active into another condition. Quarantine is
// where a node is that was down.
func (a *assembly) become(m *discovery.Member, c condition) {
	a.t.Helper()
	failures := map[condition]int{active: 0, suspected: 1, down: 2, quarantined: 2}[c]
	for range failures {
		m.Observe(discovery.TrafficFailure, m.Generation())
	}
	if c == quarantined {
		for range 3 {
			m.Observe(discovery.ProbeSuccess, m.Generation())
		}
	}
	want := map[condition]discovery.Preference{active: discovery.PreferActive, quarantined: discovery.PreferQuarantined,
		suspected: discovery.PreferSuspected, down: discovery.PreferDown}[c]
	if got := m.Preference(); got != want {
		a.t.Fatalf("%s has preference %v, want it %s", m.Node(), got, c)
	}
}

// A walked is a walk with its plan.
type walked struct {
	walk
	own resolver.Plan
}

func (a *assembly) walk(hash int64) *walked {
	w := &walked{}
	view := a.nodes.View()
	w.own.PreferKey(view.Ring, hash)
	w.begin(&w.own, view)
	return w
}

// take takes nodes and returns their names, and how many were left each time.
func (w *walked) take(n int) (names []string, left []int) {
	for range n {
		names = append(names, hostOf(w.next().Node()))
		left = append(left, w.left())
	}
	return names, left
}

func hostOf(n *resolver.Node) string {
	host, _, _ := strings.Cut(n.Host(), ":")
	return host
}

// planned are the names of the nodes of a plan, in its order.
func (a *assembly) planned(hash int64) []string {
	ring := a.nodes.View().Ring
	var plan resolver.Plan
	plan.PreferKey(ring, hash)
	var names []string
	for i := range plan.Len() {
		names = append(names, hostOf(ring.Node(plan.At(i))))
	}
	return names
}

func (a *assembly) member(name string) *discovery.Member {
	a.t.Helper()
	for _, m := range a.members() {
		if hostOf(m.Node()) == name {
			return m
		}
	}
	a.t.Fatalf("there is no node %s", name)
	return nil
}

func TestWalkTakesThePlanInOrder(t *testing.T) {
	a := assemble(t, 1, 5)
	for hash := range int64(20) {
		w, want := a.walk(hash), a.planned(hash)
		got, left := w.take(6)
		if !slices.Equal(got, append(want, "seed-0")) {
			t.Errorf("took %v, want %v and the seed", got, want)
		}
		if !slices.Equal(left, []int{5, 4, 3, 2, 1, 0}) {
			t.Errorf("left %v behind each", left)
		}
	}
}

// TestWalkTakesClassesOfHealthInTurn has two nodes of each class, and seeds
// among them.
func TestWalkTakesClassesOfHealthInTurn(t *testing.T) {
	a := assemble(t, 5, 8)
	const hash = 7
	p := a.planned(hash)
	for i, c := range []condition{down, suspected, quarantined, active, down, suspected, quarantined, active} {
		a.become(a.member(p[i]), c)
	}
	for i, c := range []condition{down, suspected, active, quarantined, active} {
		a.become(a.member("seed-"+strconv.Itoa(i)), c)
	}
	want := []string{
		p[3], p[7], // active
		p[2], p[6], // quarantined
		"seed-2", "seed-3", "seed-4", // that are well
		p[1], p[5], // suspected
		p[0], p[4], // down
		"seed-0", "seed-1", // that are not
	}
	if got, _ := a.walk(hash).take(len(want)); !slices.Equal(got, want) {
		t.Errorf("took %v, want %v", got, want)
	}
}

func TestWalkStartsAgain(t *testing.T) {
	a := assemble(t, 1, 3)
	w, cycle := a.walk(3), append(a.planned(3), "seed-0")
	got, left := w.take(12)
	if want := slices.Concat(cycle, cycle, cycle); !slices.Equal(got, want) {
		t.Errorf("took %v, want %v", got, want)
	}
	if want := []int{3, 2, 1, 0, 3, 2, 1, 0, 3, 2, 1, 0}; !slices.Equal(left, want) {
		t.Errorf("left %v, want %v", left, want)
	}
	var tried []string
	for _, n := range w.tried {
		tried = append(tried, hostOf(n))
	}
	if !slices.Equal(tried, got) {
		t.Errorf("tried %v, want all that was taken", tried)
	}
}

// TestWalkLeavesSeedsOutOnceANodeAnswered: they are for a ring that cannot be
// reached.
func TestWalkLeavesSeedsOutOnceANodeAnswered(t *testing.T) {
	a := assemble(t, 2, 3)
	p := a.planned(5)
	w := a.walk(5)
	got, _ := w.take(2)
	w.answered = true
	if w.left() != 1 {
		t.Errorf("left %d, want 1", w.left())
	}
	more, left := w.take(4)
	if want := slices.Concat(p, p); !slices.Equal(append(got, more...), want) {
		t.Errorf("took %v and %v, want %v", got, more, want)
	}
	if want := []int{0, 2, 1, 0}; !slices.Equal(left, want) {
		t.Errorf("left %v, want %v", left, want)
	}
}

// TestWalkLeavesSeedsOutInTheMidstOfThem is about an answer that comes when a
// seed was taken already.
func TestWalkLeavesSeedsOutInTheMidstOfThem(t *testing.T) {
	a := assemble(t, 2, 2)
	p := a.planned(5)
	a.become(a.member(p[1]), suspected)
	w := a.walk(5)
	if got, _ := w.take(2); !slices.Equal(got, []string{p[0], "seed-0"}) {
		t.Fatalf("took %v", got)
	}
	w.answered = true
	got, left := w.take(3)
	if want := []string{p[1], p[0], p[1]}; !slices.Equal(got, want) || !slices.Equal(left, []int{0, 1, 0}) {
		t.Errorf("took %v leaving %v, want %v", got, left, want)
	}
}

// TestWalkSeesHealthAsItIsWhenANodeIsTaken: a plan is made once, and health
// changes under way.
func TestWalkSeesHealthAsItIsWhenANodeIsTaken(t *testing.T) {
	a := assemble(t, 1, 4)
	p := a.planned(9)
	w := a.walk(9)
	first, _ := w.take(1)
	a.become(a.member(p[1]), down)
	second, _ := w.take(1)
	a.become(a.member(p[3]), suspected)
	rest, _ := w.take(3)
	if got, want := slices.Concat(first, second, rest), []string{p[0], p[2], "seed-0", p[3], p[1]}; !slices.Equal(got, want) {
		t.Errorf("took %v, want %v", got, want)
	}
}

// TestWalkTakesEachNodeOnce has health change at random all the time, and more
// nodes than a word has bits.
func TestWalkTakesEachNodeOnce(t *testing.T) {
	const seed = 42
	r := rand.New(rand.NewPCG(seed, 0))
	for _, size := range []int{1, 2, 63, 64, 65, 130, 200} {
		a := assemble(t, 3, size)
		members := a.members()
		w := a.walk(r.Int64())
		for cycle := range 3 {
			seen := map[string]bool{}
			for i := range members {
				if got, want := w.left(), len(members)-i; cycle == 0 && got != want {
					t.Fatalf("%d nodes: %d left before taking number %d", size, got, i)
				}
				name := hostOf(w.next().Node())
				if seen[name] {
					t.Fatalf("%d nodes: %s was taken twice in cycle %d", size, name, cycle)
				}
				seen[name] = true
				m := members[r.IntN(len(members))]
				m.Observe([]discovery.Outcome{discovery.TrafficFailure, discovery.TrafficSuccess, discovery.ProbeSuccess}[r.IntN(3)], m.Generation())
			}
		}
	}
}

// TestWalkOfSeeds is that of a client that has not asked the cluster yet.
func TestWalkOfSeeds(t *testing.T) {
	a := assemble(t, 3, 0)
	want := a.planned(1)
	got, left := a.walk(1).take(3)
	if !slices.Equal(got, want) || !slices.Equal(left, []int{2, 1, 0}) {
		t.Errorf("took %v leaving %v, want %v", got, left, want)
	}
}

func TestWalkAllocates(t *testing.T) {
	a := assemble(t, 1, 5)
	w := &walked{}
	view := a.nodes.View()
	allocations := testing.AllocsPerRun(100, func() {
		w.own.PreferKey(view.Ring, 1)
		w.walk = walk{}
		w.begin(&w.own, view)
		w.next()
	})
	if allocations != 0 {
		t.Errorf("taking the first node makes %v allocations", allocations)
	}
}
