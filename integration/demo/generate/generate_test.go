package main

import (
	"bytes"
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestBundledFileIsWhatTheGeneratorMakes(t *testing.T) {
	bundled, err := os.ReadFile("../testdata/writes.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var made bytes.Buffer
	if err := generate(&made); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(made.Bytes(), bundled) {
		t.Error("testdata/writes.jsonl is not what the generator makes: run go generate ./demo")
	}
}

func TestRunWritesTheFile(t *testing.T) {
	path := t.TempDir() + "/writes.jsonl"
	if err := run(path); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if lines := bytes.Count(content, []byte("\n")); lines < minWrites {
		t.Errorf("%d lines, want at least %d", lines, minWrites)
	}
	if err := run(t.TempDir()); err == nil {
		t.Error("a folder was written to")
	}
}

// TestSkewedPicksByWeight checks the shares of the weights 1/3, 1/4 and 1/5.
func TestSkewedPicksByWeight(t *testing.T) {
	s := newSkewed(3, 3)
	total := float64(s.upTo[2])
	for i, want := range []float64{20. / 47, 15. / 47, 12. / 47} {
		weight := s.upTo[i]
		if i > 0 {
			weight -= s.upTo[i-1]
		}
		if got := float64(weight) / total; got < want-1e-6 || got > want+1e-6 {
			t.Errorf("share of %d is %v, want %v", i, got, want)
		}
	}
	draw := newShop(nil).draw
	counts := make([]int, 3)
	for range 3000 {
		counts[s.pick(draw)]++
	}
	if counts[0] <= counts[1] || counts[1] <= counts[2] || counts[2] == 0 {
		t.Errorf("picked %v times, want the lower numbers more often", counts)
	}
}
