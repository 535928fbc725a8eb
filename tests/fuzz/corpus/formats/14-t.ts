import { a } from "b";

export interface Options<T> {
  name: string;
  run(x: number): void;
}
export default class Box extends Base {
  private n = /[{]/.test("x") ? 1 : 2;
  constructor(private a: string) {
    super();
  }

  async load(url: string): Promise<void> {
    await fetch(`${url}/{x}`);
  }
}
const add = (a: number, b: number): number => {
  return a + b;
};
module.exports = { add };
