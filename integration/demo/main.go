// Command demo shows what the plugin does to batches of writes: which node
// coordinates them, and that nothing is lost when a node dies. It sends the
// same writes to a cluster several times, without and with the plugin, on a
// cluster of embedded nodes or on a real one.
//
//	go run ./demo -h
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

//go:generate go run ./generate -output testdata/writes.jsonl

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// The exit statuses.
const (
	allWell = 0
	failed  = 1 // a call failed, a write was lost, or nothing could be run
	misused = 2 // wrong flags
)

// run is the whole program. It returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	f, err := parseFlags(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, usage)
		return allWell
	}
	if err != nil {
		complain(stderr, err)
		fmt.Fprintln(stderr, "See -h for what there is.")
		return misused
	}
	input, err := f.readInput(stdin, stderr)
	if err == nil {
		err = perform(ctx, f, input, stdout, stderr)
	}
	if err != nil {
		complain(stderr, err)
		return failed
	}
	return allWell
}

// complain writes an error, each of several on a line of its own.
func complain(stderr io.Writer, err error) {
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(stderr, "demo: %s\n", strings.TrimSuffix(line, "\n"))
	}
}

// perform shows the input on the site that the flags name. A first signal has
// it clean up and end, a second one ends the program.
func perform(ctx context.Context, f *flags, input *workload, stdout, stderr io.Writer) (err error) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	s, err := f.openSite()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	d := &demo{
		site:      s,
		input:     input,
		scenarios: f.scenarios,
		report:    newReport(stdout, f.ascii),
		progress:  newProgress(stderr, f.ascii),
	}
	if err = d.perform(ctx); err != nil && ctx.Err() != nil {
		return fmt.Errorf("interrupted: %w", err)
	}
	return err
}
