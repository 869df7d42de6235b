package integration

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "accept the exported API as it is now")

// TestAPI compares what the packages export with what is on record, so that a
// change to the API is seen as one. -update accepts it.
func TestAPI(t *testing.T) {
	for _, name := range []string{"resolver", "discovery", "middleware"} {
		t.Run(name, func(t *testing.T) {
			// go doc -short -all lists declarations with their comments; the
			// comments are not part of the API.
			command := exec.CommandContext(t.Context(), "go", "doc", "-all", ".")
			command.Dir = filepath.Join("..", name)
			out, err := command.Output()
			if err != nil {
				t.Fatalf("go doc: %v", err)
			}
			got := declarations(out)
			record := filepath.Join("testdata", "api", name+".txt")
			if *update {
				if err := os.WriteFile(record, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(record)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("the exported API differs from %s; `go test -run API -update .` accepts it.\nNow:\n%s", record, got)
			}
		})
	}
}

// declarations keeps the lines of go doc that declare something: those that
// are not indented prose or comments, and the fields and constants in braces.
func declarations(doc []byte) []byte {
	var kept bytes.Buffer
	depth := 0
	for line := range bytes.Lines(doc) {
		trimmed := bytes.TrimSpace(line)
		code := bytes.TrimSpace(bytes.SplitN(trimmed, []byte("//"), 2)[0])
		declares := bytes.HasPrefix(line, []byte("func ")) || bytes.HasPrefix(line, []byte("type ")) ||
			bytes.HasPrefix(line, []byte("const ")) || bytes.HasPrefix(line, []byte("var "))
		if (declares || depth > 0) && len(code) > 0 {
			kept.Write(bytes.Join(bytes.Fields(code), []byte(" ")))
			kept.WriteByte('\n')
			depth += bytes.Count(code, []byte("{")) + bytes.Count(code, []byte("(")) -
				bytes.Count(code, []byte("}")) - bytes.Count(code, []byte(")"))
		}
	}
	return kept.Bytes()
}
