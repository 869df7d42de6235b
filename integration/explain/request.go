package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyroute/keyroute/integration/internal/ddbjson"
)

// readRequest reads the writes that a value of -request-items stands for. The
// error names where they come from, and the line or the field.
func readRequest(value string, stdin io.Reader) (map[string][]types.WriteRequest, error) {
	content, name, err := contentOf(value, stdin)
	if err != nil {
		return nil, err
	}
	if err := checkSyntax(content); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	request, err := ddbjson.AnyRequestItems(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return request, nil
}

// contentOf returns the JSON and where it comes from.
func contentOf(value string, stdin io.Reader) (content []byte, name string, err error) {
	if path, ok := strings.CutPrefix(value, "file://"); ok {
		content, err = os.ReadFile(path)
		return content, path, err
	}
	if value == "-" {
		content, err = io.ReadAll(stdin)
		if err != nil {
			err = fmt.Errorf("standard input: %w", err)
		}
		return content, "standard input", err
	}
	return []byte(value), "-request-items", nil
}

// checkSyntax returns an error that names the line and the column of what is not
// JSON.
func checkSyntax(content []byte) error {
	var anything json.RawMessage
	err := json.Unmarshal(content, &anything)
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return err
	}
	// The offset counts the bytes up to and including the one that is wrong, or
	// all of them if it is the end that is.
	before := content[:min(int(syntax.Offset), len(content))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - (bytes.LastIndexByte(before, '\n') + 1)
	return fmt.Errorf("line %d, column %d: %w", line, max(column, 1), err)
}
