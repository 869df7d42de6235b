package main

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// progress shows how far a run is, in one line that is written over and then
// removed. It shows nothing where that cannot be done.
type progress struct {
	output io.Writer // nil: shows nothing
	ascii  bool
	shown  string
}

func newProgress(output io.Writer, ascii bool) *progress {
	if !isTerminal(output) {
		return &progress{}
	}
	return &progress{output: output, ascii: ascii}
}

// isTerminal reports whether lines can be written over. Not every character
// device is a terminal, but what is written to the others is not read.
func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

const progressWidth = 40

func (p *progress) show(name string, done, total int) {
	if p.output == nil {
		return
	}
	share := float64(done) / float64(total)
	line := fmt.Sprintf("   %-9s %s %3.0f %%", name, bar(share, progressWidth, p.ascii), 100*share)
	if line != p.shown {
		fmt.Fprint(p.output, "\r"+line)
		p.shown = line
	}
}

func (p *progress) clear() {
	if p.shown != "" {
		fmt.Fprint(p.output, "\r"+strings.Repeat(" ", len([]rune(p.shown)))+"\r")
		p.shown = ""
	}
}
