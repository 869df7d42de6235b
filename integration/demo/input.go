package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/integration/internal/ddbjson"
	"github.com/keyroute/keyroute/resolver"
)

//go:embed testdata/writes.jsonl
var bundled []byte

// A write is one line of the input.
type write struct {
	table     *table
	item      string // see table.identify
	partition string
	hash      int64 // of the partition key
	request   types.WriteRequest
}

// attributes are the item of a put and the key of a delete.
func (w *write) attributes() attributes {
	switch {
	case w.request.PutRequest != nil:
		return w.request.PutRequest.Item
	case w.request.DeleteRequest != nil:
		return w.request.DeleteRequest.Key
	}
	return nil
}

// readInput reads the writes that the flags name, and makes batches of them.
// Lines that are no writes are reported to stderr.
func (f *flags) readInput(stdin io.Reader, stderr io.Writer) (*workload, error) {
	source, name := io.Reader(bytes.NewReader(bundled)), "bundled with the demo"
	switch f.input {
	case "":
	case "-":
		source, name = stdin, "standard input"
	default:
		path, err := filepath.Abs(f.input) // make and go run change the folder
		if err != nil {
			return nil, err
		}
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }() // it was only read
		source, name = file, f.input
	}
	skipped := 0
	writes, err := readWrites(source, func(line int, reason error) {
		skipped++
		fmt.Fprintf(stderr, "%s, line %d: %v\n", name, line, reason)
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(writes) == 0 {
		return nil, fmt.Errorf("%s: there is no write in it", name)
	}
	return newWorkload(name, writes, skipped, f.batch), nil
}

// maxLine is longer than any item may be as JSON (source: DynamoDB's quotas,
// 400 KB per item).
const maxLine = 1 << 20

// readWrites reads one write per line; empty lines do not count as one. What
// is wrong with a line is reported and does not end the reading.
func readWrites(r io.Reader, report func(line int, reason error)) ([]write, error) {
	var writes []write
	lines := bufio.NewReaderSize(r, 64<<10)
	for n := 1; ; n++ {
		line, err := readLine(lines)
		if err != nil && !errors.Is(err, errTooLong) && !errors.Is(err, io.EOF) {
			return nil, err
		}
		end := errors.Is(err, io.EOF)
		switch line = bytes.TrimSpace(line); {
		case errors.Is(err, errTooLong):
			report(n, err)
		case len(line) > 0:
			w, err := parseWrite(line)
			if err != nil {
				report(n, err)
			} else {
				writes = append(writes, w)
			}
		}
		if end {
			return writes, nil
		}
	}
}

var errTooLong = fmt.Errorf("longer than %d bytes", maxLine)

// readLine returns the next line. A line that is too long is read to its end
// and left out.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := r.ReadSlice('\n')
		if tooLong = tooLong || len(line)+len(part) > maxLine; !tooLong {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case tooLong && err == nil:
			return nil, errTooLong
		case tooLong:
			return nil, errors.Join(errTooLong, err)
		}
		return line, err
	}
}

// parseWrite reads a write to one of the tables.
func parseWrite(line []byte) (write, error) {
	name, request, err := ddbjson.TableWrite(line)
	if err != nil {
		return write{}, err
	}
	w := write{table: tableOf(name), request: request}
	if w.table == nil {
		return write{}, fmt.Errorf("table: %q is not a table of the demo, which has orders and events", name)
	}
	where := "PutRequest.Item"
	if request.DeleteRequest != nil {
		where = "DeleteRequest.Key"
	}
	if w.item, w.partition, err = w.table.identify(w.attributes()); err != nil {
		return write{}, fmt.Errorf("%s.%w", where, err)
	}
	if request.DeleteRequest != nil {
		if extra := w.table.notKey(request.DeleteRequest.Key); extra != "" {
			return write{}, fmt.Errorf("%s.%s: not a key of the table %s", where, extra, name)
		}
	}
	w.hash, _ = resolver.Hash(w.attributes()[w.table.keys[0].name])
	return w, nil
}
