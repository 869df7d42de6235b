package resolver_test

import (
	"math"
	"math/rand"
	"slices"
	"testing"

	"github.com/keyroute/keyroute/resolver"
)

// corners are the hashes at which the seed of a generator is special.
var corners = []int64{
	0, 1, -1, 1<<31 - 1, 1 - 1<<31, 1<<31 - 2, 1 << 31, 89482311, math.MaxInt64, math.MinInt64,
}

func TestPlanIsAPermutation(t *testing.T) {
	var plan resolver.Plan
	hashes := rand.New(rand.NewSource(1))
	for n := 1; n <= 400; n++ {
		ring := ringOf(n)
		plan.PreferKey(ring, int64(hashes.Uint64()))
		if order := orderOf(&plan); !isPermutation(order, n) {
			t.Errorf("by key, %d nodes: %v", n, order)
		}
		plan.PreferAny(ring, hashes.Uint64())
		if order := orderOf(&plan); !isPermutation(order, n) {
			t.Errorf("any, %d nodes: %v", n, order)
		}
		if !plan.PreferVoted(ring, batchOf(1+n%50), fixedKey("pk")) {
			t.Fatalf("%d nodes: no votes", n)
		}
		if order := orderOf(&plan); !isPermutation(order, n) {
			t.Errorf("by votes, %d nodes: %v", n, order)
		}
	}
}

// TestSeededPlanIsTheDefinition compares whole plans with math/rand, on rings
// within and beyond the draws that have a closed form.
func TestSeededPlanIsTheDefinition(t *testing.T) {
	hashes := rand.New(rand.NewSource(2))
	var plan resolver.Plan
	for _, n := range []int{1, 2, 3, 4, 7, 8, 10, 64, 100, 272, 273, 274, 275, 400, 606, 607, 608, mostNodes} {
		ring := ringOf(n)
		seeds := slices.Clone(corners)
		for range 20 {
			seeds = append(seeds, int64(hashes.Uint64()))
		}
		for _, hash := range seeds {
			plan.PreferKey(ring, hash)
			if got, want := orderOf(&plan), referencePlan(n, hash); !slices.Equal(got, want) {
				t.Fatalf("hash %d, %d nodes: %v, want %v", hash, n, got, want)
			}
		}
	}
}

func TestPlanIsReadInAnyOrder(t *testing.T) {
	shuffle := rand.New(rand.NewSource(3))
	for _, n := range []int{1, 2, 10, 300, 700} {
		ring := ringOf(n)
		for hash := range int64(20) {
			want := referencePlan(n, hash)
			var plan resolver.Plan
			plan.PreferKey(ring, hash)
			for _, i := range append([]int{n - 1, 0, n / 2}, shuffle.Perm(n)...) {
				if got := plan.At(i); got != want[i] {
					t.Fatalf("hash %d, %d nodes: position %d is %d, want %d", hash, n, i, got, want[i])
				}
			}
		}
	}
}

// TestPlanValueIsReused makes plans of every kind in one value and reads each
// to another depth, so that nothing of one may show in the next.
func TestPlanValueIsReused(t *testing.T) {
	random := rand.New(rand.NewSource(4))
	var reused resolver.Plan
	for round := range 3000 {
		ring := ringOf(1 + random.Intn(100))
		var fresh resolver.Plan
		switch hash := random.Uint64(); random.Intn(5) {
		case 0:
			reused.PreferAny(ring, hash)
			fresh.PreferAny(ring, hash)
		case 1, 2:
			reused.PreferKey(ring, int64(hash))
			fresh.PreferKey(ring, int64(hash))
		default:
			writes := batchOf(random.Intn(100))
			if reused.PreferVoted(ring, writes, fixedKey("pk")) != fresh.PreferVoted(ring, writes, fixedKey("pk")) {
				t.Fatalf("round %d: the votes of one batch differ", round)
			}
			if len(fresh.Votes()) == 0 {
				continue
			}
		}
		if reused.Len() != fresh.Len() || !slices.Equal(reused.Votes(), fresh.Votes()) {
			t.Fatalf("round %d: length and votes differ", round)
		}
		for i := range random.Intn(ring.Len() + 1) {
			if got, want := reused.At(i), fresh.At(i); got != want {
				t.Fatalf("round %d: position %d is %d, want %d", round, i, got, want)
			}
		}
	}
}

func TestPlanOfNoNodes(t *testing.T) {
	made := func(prefer func(*resolver.Plan, *resolver.Ring)) *resolver.Plan {
		plan := new(resolver.Plan)
		plan.PreferKey(ringOf(3), 1)
		plan.At(2)
		prefer(plan, resolver.NewRing())
		return plan
	}
	for name, plan := range map[string]*resolver.Plan{
		"zero":   {},
		"by key": made(func(p *resolver.Plan, r *resolver.Ring) { p.PreferKey(r, 1) }),
		"any":    made(func(p *resolver.Plan, r *resolver.Ring) { p.PreferAny(r, 1) }),
		"voted": made(func(p *resolver.Plan, r *resolver.Ring) {
			if p.PreferVoted(r, batchOf(25), fixedKey("pk")) {
				t.Error("votes for no node")
			}
		}),
	} {
		if plan.Len() != 0 || plan.Votes() != nil {
			t.Errorf("%s: length %d, votes %v, want none", name, plan.Len(), plan.Votes())
		}
		mustPanic(t, name+": At(0)", func() { plan.At(0) })
	}
}

func TestPlanPositionsOutsideItPanic(t *testing.T) {
	for _, i := range []int{-1, 3, 1000} {
		var byKey, voted resolver.Plan
		byKey.PreferKey(ringOf(3), 1)
		mustPanic(t, "a position outside a plan by key", func() { byKey.At(i) })
		voted.PreferVoted(ringOf(3), batchOf(5), fixedKey("pk"))
		mustPanic(t, "a position outside a plan by votes", func() { voted.At(i) })
	}
}

func TestVotesAreOfPlansByVotesOnly(t *testing.T) {
	var plan resolver.Plan
	plan.PreferVoted(ringOf(10), batchOf(25), fixedKey("pk"))
	plan.PreferKey(ringOf(10), 1)
	if votes := plan.Votes(); votes != nil {
		t.Errorf("a plan by key has votes %v", votes)
	}
	plan.PreferVoted(ringOf(10), batchOf(25), fixedKey("pk"))
	plan.PreferAny(ringOf(10), 1)
	if votes := plan.Votes(); votes != nil {
		t.Errorf("a plan for any request has votes %v", votes)
	}
}
