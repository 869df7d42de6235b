package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/keyroute/keyroute/middleware"
)

func TestBar(t *testing.T) {
	for _, c := range []struct {
		share      float64
		drawn      string
		drawnASCII string
	}{
		{0, "    ", "    "},
		{0.0001, "▏   ", "#   "}, // whatever there is can be seen
		{0.25, "█   ", "#   "},
		{0.375, "█▌  ", "##  "},
		{0.5, "██  ", "##  "},
		{1, "████", "####"},
		{7, "████", "####"},
		{-1, "    ", "    "},
	} {
		if got := bar(c.share, 4, false); got != c.drawn {
			t.Errorf("%v: got %q, want %q", c.share, got, c.drawn)
		}
		if got := bar(c.share, 4, true); got != c.drawnASCII {
			t.Errorf("%v in ASCII: got %q, want %q", c.share, got, c.drawnASCII)
		}
	}
}

func TestBarsKeepTheirWidth(t *testing.T) {
	var output bytes.Buffer
	newReport(&output, false).bars([]nodeCount{
		{"http://127.0.0.9:20001", 1234567},
		{"http://127.0.0.10:20001", 617283},
		{"http://[2001:db8:1111:2222:3333:4444:5555:6666]:8000", 1},
		{"http://127.0.0.12:20001", 0},
	})
	lines := strings.Split(strings.TrimSuffix(output.String(), "\n"), "\n")
	for _, line := range lines {
		if n := utf8.RuneCountInString(line); n != columns-1 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
	for i, end := range []string{"█  1,234,567", "     617,283", "          1", "          0"} {
		if !strings.HasSuffix(lines[i], end) {
			t.Errorf("line %d does not end with %q: %q", i, end, lines[i])
		}
	}
	if !strings.HasPrefix(lines[1], "   127.0.0.10:20001   ") {
		t.Errorf("labels are not aligned: %q", lines[1])
	}
}

func TestReportOfAnOutcome(t *testing.T) {
	var output bytes.Buffer
	newReport(&output, true).outcome(3, &outcome{
		scenario: scenario{name: "any_write", title: "as an example", mode: middleware.AnyWrite},
		calls:    1200, failed: 2, voted: 1100, failovers: 1, passedOver: 30,
		written: 1000, met: 417, requests: []nodeCount{{"http://n1:8000", 1}},
		outage: "none", differences: differences{lost: []string{"a", "b"}},
	})
	bars := "   n1:8000  " + strings.Repeat("#", columns-16) + "  1\n"
	wanted := "\n3. any_write: as an example\n\n" + bars + `
   affinity      41.7 % of the writes met the coordinator that their key prefers
   votes         decided 1,100 of 1,200 calls, once the tables' keys were known
   outage        none
   failovers     1; 30 more calls passed over a node that had given no answer
   failed        2 of 1,200 calls
   read back     2 items lost (one is a)
`
	if output.String() != wanted {
		t.Errorf("got\n%s\nwant\n%s", output.String(), wanted)
	}
}

func TestShareOfNothingIsNothing(t *testing.T) {
	if share := new(outcome).share(); share != 0 {
		t.Error(share)
	}
}

func TestWords(t *testing.T) {
	for n, want := range map[int]string{0: "0", 7: "7", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := grouped(n); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	for n, want := range map[int]string{0: "0 nodes", 1: "1 node", 2000: "2,000 nodes"} {
		if got := count(n, "node"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestProgressWritesOverItself(t *testing.T) {
	var output bytes.Buffer
	p := &progress{output: &output, ascii: true}
	p.show("none", 0, 4)
	p.show("none", 0, 4)
	p.show("none", 3, 4)
	p.clear()
	p.clear()
	first := "\r   none      " + strings.Repeat(" ", 40) + "   0 %"
	second := "\r   none      " + strings.Repeat("#", 30) + strings.Repeat(" ", 10) + "  75 %"
	wanted := first + second + "\r" + strings.Repeat(" ", len(second)-1) + "\r"
	if output.String() != wanted {
		t.Errorf("got\n%q\nwant\n%q", output.String(), wanted)
	}
}

func TestProgressIsForTerminals(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/output")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	p := newProgress(file, false)
	p.show("none", 1, 2)
	p.clear()
	if info, err := file.Stat(); err != nil || info.Size() != 0 {
		t.Errorf("a file has %v bytes of progress, %v", info.Size(), err)
	}
	device, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = device.Close() }()
	t.Setenv("TERM", "xterm")
	before := isTerminal(device)
	t.Setenv("TERM", "dumb")
	if isTerminal(device) {
		t.Errorf("a dumb terminal has lines that can be written over; another one: %v", before)
	}
}
