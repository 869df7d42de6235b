package integration

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/integration/cluster"
	"github.com/keyroute/keyroute/middleware"
	"github.com/keyroute/keyroute/resolver"
)

// reasons are why an operation is routed as it is, by mode.
type reasons map[middleware.Mode]middleware.Reason

// Every request that a node receives changes the mode, and each call needs three
// attempts, so that modes change within calls as well as between them.
func TestEveryCallSeesOneMode(t *testing.T) {
	const callers, calls = 8, 60
	modes := []middleware.Mode{middleware.None, middleware.RMW, middleware.AnyWrite}
	c := cluster.New(t, nodes(5))
	createTable(t, c, "orders", "pk", "S")
	p := newPlugin(t, c, keys("orders", "pk"))
	through := c.HTTPClient()
	client := attach(t, c, p, impatient(3), func(o *dynamodb.Options) {
		o.HTTPClient = httpClientFunc(func(r *http.Request) (*http.Response, error) {
			if operationOf(r) == "" {
				return through.Do(r)
			}
			if err := p.SetMode(modes[rand.IntN(len(modes))]); err != nil {
				return nil, err
			}
			if strings.HasPrefix(r.Header.Get("Amz-Sdk-Request"), "attempt=3") {
				return reply(r, http.StatusOK, written), nil
			}
			return reply(r, http.StatusInternalServerError, internalOops), nil
		})
	})

	kinds := []struct {
		write keyedWrite
		want  reasons
	}{
		{putOne, reasons{middleware.None: middleware.ReasonMode, middleware.RMW: middleware.ReasonNotReadModifyWrite, middleware.AnyWrite: middleware.ReasonKeyed}},
		{conditionalPut, reasons{middleware.None: middleware.ReasonMode, middleware.RMW: middleware.ReasonKeyed, middleware.AnyWrite: middleware.ReasonKeyed}},
		{batchOne, reasons{middleware.None: middleware.ReasonMode, middleware.RMW: middleware.ReasonMode, middleware.AnyWrite: middleware.ReasonVoted}},
	}
	ring := ringOf(t, c)
	seen := make([]list[middleware.Mode], len(kinds))
	var running sync.WaitGroup
	for caller := range callers {
		running.Go(func() {
			for i := range calls {
				kind := i % len(kinds)
				key := str(fmt.Sprintf("%d-%d", caller, i))
				metadata, err := kinds[kind].write.call(t.Context(), client, "orders", item{"pk": key})
				if err != nil {
					t.Error(err)
					return
				}
				d, _ := middleware.DecisionOf(metadata)
				seen[kind].add(d.Mode)
				if want := kinds[kind].want[d.Mode]; d.Reason != want {
					t.Errorf("kind %d in mode %v: %v, want %v", kind, d.Mode, d.Reason, want)
				}
				checkWalk(t, ring, key, d)
			}
		})
	}
	running.Wait()

	for kind := range seen {
		met := seen[kind].take()
		for _, m := range modes {
			if !slices.Contains(met, m) {
				t.Errorf("of %d calls of kind %d none was made in mode %v", len(met), kind, m)
			}
		}
	}
}

// checkWalk checks that the attempts of a call follow the plan that its reason
// stands for. In an ordinary plan no node comes twice.
func checkWalk(t *testing.T, ring *resolver.Ring, key types.AttributeValue, d middleware.Decision) {
	t.Helper()
	plan := planOf(t, ring, key)
	switch d.Reason {
	case middleware.ReasonKeyed:
	case middleware.ReasonVoted:
		slices.Sort(plan[1:]) // canonical order
	default:
		plan = slices.Clone(d.Tried)
		slices.Sort(plan)
		if len(plan) != 3 || len(slices.Compact(plan)) != 3 {
			t.Errorf("an ordinary call tried %v, want three nodes", d.Tried)
		}
		return
	}
	if !slices.Equal(d.Tried, plan[:3]) {
		t.Errorf("%v: tried %v, want %v", d.Reason, d.Tried, plan[:3])
	}
}
