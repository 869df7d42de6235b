// Command generate makes the writes that the demo sends unless it is given
// others: the orders and the events of an imaginary web shop. It always makes
// the same ones.
//
//	go run ./generate -output testdata/writes.jsonl
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	output := flag.String("output", "", "the file to write; standard output by default")
	flag.Parse()
	if err := run(*output); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(output string) error {
	if output == "" {
		return generate(os.Stdout)
	}
	file, err := os.Create(output)
	if err != nil {
		return err
	}
	return errors.Join(generate(file), file.Close())
}

// generate writes the writes of a busy morning, one per line.
func generate(w io.Writer) error {
	buffered := bufio.NewWriter(w)
	s := newShop(buffered)
	for s.writes < minWrites {
		if err := s.step(); err != nil {
			return err
		}
	}
	return buffered.Flush()
}
