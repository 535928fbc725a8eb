#!/usr/bin/env node
// generate.mjs [openapi.json] [api.d.ts] - the service's description as types: one for each schema, and Routes, which
// says of each route what it takes and gives. Both files default to those of this tree.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const from = process.argv[2] ?? join(here, '../../routes/openapi.json');
const to = process.argv[3] ?? join(here, 'api.d.ts');
const api = JSON.parse(readFileSync(from, 'utf8'));

const quoted = (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));
const comment = (text, indent) => (text ? `${indent}/** ${text.replaceAll('*/', '* /').replaceAll('\n', ' ')} */\n` : '');
const resolve = (node) => (node?.$ref ? node.$ref.slice(2).split('/').reduce((at, step) => at[step], api) : node);

function object(schema, indent) {
    const inner = indent + '    ';
    const required = new Set(schema.required ?? []);
    const fields = Object.entries(schema.properties ?? {}).map(([name, s]) =>
        `${comment(s.description, inner)}${inner}${quoted(name)}${required.has(name) ? '' : '?'}: ${type(s, inner)};\n`);
    // Replies may gain fields and requests may not; a field that is not named here is no error of a type.
    if (!fields.length || (schema.additionalProperties && schema.additionalProperties !== true)) {
        const rest = typeof schema.additionalProperties === 'object' ? type(schema.additionalProperties, inner) : 'unknown';
        if (!fields.length) return `Record<string, ${rest}>`;
    }
    return `{\n${fields.join('')}${indent}}`;
}

function type(schema, indent = '') {
    if (schema === true || schema === undefined) return 'unknown';
    if (schema.$ref) return schema.$ref.split('/').at(-1);
    if ('const' in schema) return JSON.stringify(schema.const);
    if (schema.enum) return schema.enum.map((v) => JSON.stringify(v)).join(' | ');
    const any = schema.oneOf ?? schema.anyOf;
    if (any) return any.map((s) => type(s, indent)).join(' | ');
    if (schema.allOf) return schema.allOf.map((s) => type(s, indent)).join(' & ');
    const kinds = [schema.type ?? (schema.properties ? 'object' : undefined)].flat();
    return kinds.map((kind) => {
        if (kind === 'array') {
            const item = type(schema.items, indent);
            return schema.prefixItems ? `[${schema.prefixItems.map((s) => type(s, indent)).join(', ')}]` : `Array<${item}>`;
        }
        if (kind === 'object') return object(schema, indent);
        return { integer: 'number', number: 'number', string: 'string', boolean: 'boolean', null: 'null' }[kind] ?? 'unknown';
    }).join(' | ');
}

const json = (content) => {
    const media = content?.['application/json'];
    return media ? type(media.schema, '        ') : undefined;
};

// As call() of forage.js gives them.
const raw = (content) => [...new Set(Object.keys(content).map((name) =>
    name === '*/*' ? 'string | Blob' : name.startsWith('text/') || name.includes('json') ? 'string' : 'Blob'))].join(' | ');

function route(path, method, operation, shared) {
    const parameters = [...(shared ?? []), ...(operation.parameters ?? [])].map(resolve);
    const query = parameters.filter((p) => p.in === 'query');
    const inPath = parameters.filter((p) => p.in === 'path');
    const side = (list) => !list.length ? 'undefined' : `{\n${list.map((p) =>
        `${comment(p.description, '            ')}            ${quoted(p.name)}${p.required ? '' : '?'}: ${type(p.schema, '            ')};\n`).join('')}        }`;
    const body = resolve(operation.requestBody);
    const good = Object.entries(operation.responses).filter(([status]) => status.startsWith('2')).map(([, r]) => resolve(r));
    const replies = [...new Set(good.map((r) => json(r.content) ?? (r.content ? raw(r.content) : 'null')))];
    return `${comment(operation.summary, '    ')}    '${method.toUpperCase()} ${path}': {\n` +
        `        path: ${side(inPath)};\n        query: ${side(query)};\n` +
        `        body: ${body ? (json(body.content) ?? 'string') + (body.required ? '' : ' | undefined') : 'undefined'};\n` +
        `        reply: ${replies.join(' | ') || 'null'};\n    };\n`;
}

let out = '// Made by generate.mjs of the service\'s description (GET /openapi.json): do not edit.\n\n';
for (const [name, schema] of Object.entries(api.components.schemas))
    out += `${comment(schema.description, '')}export type ${name} = ${type(schema)};\n\n`;
out += '/** Of each route what it takes and what it gives. */\nexport interface Routes {\n';
for (const [path, methods] of Object.entries(api.paths))
    for (const method of ['get', 'post', 'put', 'patch', 'delete'])
        if (methods[method]) out += route(path, method, methods[method], methods.parameters);
out += '}\n';
writeFileSync(to, out);
