package discovery

import (
	"context"
	"errors"
	"fmt"
)

// madeUpRack is a rack that no cluster has. A server that lists nodes in it
// ignores the rack that it is asked for.
const madeUpRack = "keyroute-made-up-rack"

// CheckScope asks the cluster whether each datacenter and rack of the scope and
// its fallbacks exists, for a program's start. The error names every one that
// has no live node, says if the servers are so old that they ignore the
// question, and tells why nobody answered if nobody did. Routing does not
// depend on it.
func (n *Nodes) CheckScope(ctx context.Context) error {
	if n.client.Load() == nil {
		return errNoClient
	}
	var failures []error
	for scope := &n.config.Scope; scope != nil; scope = scope.fallback {
		if scope.kind == clusterScope {
			continue
		}
		if err := n.checkScope(ctx, scope); err != nil {
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}

func (n *Nodes) checkScope(ctx context.Context, scope *Scope) error {
	nodes, err := n.list(ctx, scope.query())
	switch {
	case err != nil:
		return fmt.Errorf("keyroute: scope %s: %w", scope.name(), err)
	case nodes == 0:
		return fmt.Errorf("keyroute: scope %s: the cluster knows no live node there", scope.name())
	}
	if ignored, _ := n.ignoresPlace(ctx, scope); ignored {
		return fmt.Errorf("keyroute: scope %s: %s", scope.name(), placeIgnored)
	}
	return nil
}

const placeIgnored = "the cluster's servers ignore datacenter and rack in /localnodes, and list their whole datacenter"

// ignoresPlace reports whether servers answer with nodes for a rack that does
// not exist.
func (n *Nodes) ignoresPlace(ctx context.Context, scope *Scope) (bool, error) {
	nodes, err := n.list(ctx, Rack(scope.datacenter, madeUpRack).query())
	return nodes > 0, err
}

// list returns how many entries the first node that answers lists.
func (n *Nodes) list(ctx context.Context, query string) (int, error) {
	var failures []error
	for _, m := range n.askable() {
		addresses, err := n.get(ctx, m, query)
		if err == nil {
			return len(addresses), nil
		}
		failures = append(failures, err)
	}
	return 0, errors.Join(failures...)
}

// warnIfPlaceIgnored finds out, once, whether the scope means anything to the
// cluster.
func (n *Nodes) warnIfPlaceIgnored(ctx context.Context, scope *Scope) {
	if n.placeChecked.Load() {
		return
	}
	ignored, err := n.ignoresPlace(ctx, scope)
	if err != nil {
		return // asked again with the next refresh
	}
	n.placeChecked.Store(true)
	if ignored {
		n.warnings.warn("place", "scope %s: %s", scope.name(), placeIgnored)
	}
}
