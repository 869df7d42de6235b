package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/keyroute/keyroute/middleware"
)

// A scenario is a way to send the writes.
type scenario struct {
	name   string
	title  string
	bare   bool            // without the plugin
	mode   middleware.Mode // of the plugin
	outage bool            // a node stops half way
}

var scenarios = []scenario{
	{name: "bare", title: "the AWS SDK alone, all batches on one endpoint", bare: true},
	{name: "none", title: "with the plugin, the batches spread over all nodes"},
	{name: "rmw", title: "with the plugin, for which a batch is no read-modify-write", mode: middleware.RMW},
	{name: "any_write", title: "with the plugin, each batch on the node that most of it prefers",
		mode: middleware.AnyWrite, outage: true},
}

func defaultScenarios() []scenario {
	return slices.DeleteFunc(slices.Clone(scenarios), func(s scenario) bool { return s.mode == middleware.RMW })
}

// scenariosOf returns the scenarios with the given names, at least one.
func scenariosOf(names []string) ([]scenario, error) {
	if len(names) == 0 {
		return nil, errors.New("must name at least one")
	}
	var named []scenario
	for _, name := range names {
		i := slices.IndexFunc(scenarios, func(s scenario) bool { return s.name == name })
		if i < 0 {
			return nil, fmt.Errorf("%q must be bare, none, rmw or any_write", name)
		}
		named = append(named, scenarios[i])
	}
	return named, nil
}
